"""Print a script that completes verbs, options and names in your shell.

recombine completion bash >> ~/.bashrc
recombine completion zsh  > ~/.zfunc/_recombine      (a folder on your fpath)
recombine completion fish > ~/.config/fish/completions/recombine.fish
"""

from __future__ import annotations

import argparse
import sys

SHELLS = ("bash", "zsh", "fish")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine completion`."""
    parser.add_argument("shell", choices=SHELLS, help="bash, zsh or fish")


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    sys.stdout.write({"bash": _bash, "zsh": _zsh, "fish": _fish}[arguments.shell]())
    return 0


def words_of() -> dict[str, list[tuple[str, str]]]:
    """Verb -> its options with their help, from the parsers themselves."""
    from recombine.cli import VERBS, parser_of

    found = {}
    for verb in VERBS:
        parser = parser_of(verb)
        options = []
        for action in parser._actions:
            about = " ".join((action.help or "").replace("%%", "%").split()).partition(" (")[0]
            options += [
                (name, "" if about == argparse.SUPPRESS else about) for name in action.option_strings if name.startswith("--")
            ]
        found[verb] = options
    return found


def names_of() -> list[str]:
    """The names that may follow a verb: families."""
    from recombine.families import FAMILIES

    return list(FAMILIES)


def _bash() -> str:
    cases = "\n".join(f"    {verb}) words='{' '.join(name for name, _ in options)}';;" for verb, options in words_of().items())
    verbs = " ".join(words_of())
    return f"""# completion of recombine for bash
_recombine() {{
  local here="${{COMP_WORDS[COMP_CWORD]}}" verb="${{COMP_WORDS[1]}}" words=''
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=( $(compgen -W '{verbs}' -- "$here") )
    return
  fi
  case "$verb" in
{cases}
  esac
  case "$here" in
    -*) COMPREPLY=( $(compgen -W "$words" -- "$here") );;
    *) COMPREPLY=( $(compgen -W '{" ".join(names_of())}' -- "$here") $(compgen -f -- "$here") );;
  esac
}}
complete -o filenames -F _recombine recombine
"""


def _quoted(text: str) -> str:
    """Text inside single quotes of any of the shells."""
    return text.replace("'", "’")


def _zsh() -> str:
    from recombine.cli import VERBS

    verbs = "\n".join(f"    '{verb}:{_quoted(about)}'" for verb, about in VERBS.items())
    cases = []
    for verb, options in words_of().items():
        listed = " ".join(f"'{name}:{_quoted(about)}'" for name, about in options)
        cases.append(f"    {verb}) options=({listed});;")
    return f"""#compdef recombine
# completion of recombine for zsh
_recombine() {{
  local -a verbs options
  verbs=(
{verbs}
  )
  if (( CURRENT == 2 )); then
    _describe 'verb' verbs
    return
  fi
  case "$words[2]" in
{chr(10).join(cases)}
  esac
  if [[ "$words[CURRENT]" == -* ]]; then
    _describe 'option' options
  else
    compadd {" ".join(names_of())}
    _files
  fi
}}
compdef _recombine recombine
"""


def _fish() -> str:
    from recombine.cli import VERBS

    lines = ["# completion of recombine for fish"]
    lines += [
        f"complete -c recombine -n __fish_use_subcommand -a {verb} -d '{_quoted(about)}'" for verb, about in VERBS.items()
    ]
    for verb, options in words_of().items():
        for name, about in options:
            lines.append(
                f"complete -c recombine -n '__fish_seen_subcommand_from {verb}' -l {name.removeprefix('--')} -d '{_quoted(about)}'"
            )
    lines.append(f"complete -c recombine -n 'not __fish_use_subcommand' -a '{' '.join(names_of())}'")
    return "\n".join(lines) + "\n"
