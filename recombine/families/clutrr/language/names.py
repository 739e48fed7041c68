"""First names, several hundred of each gender: one plain word each, of one gender only, and no word of the stories."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from recombine.errors import FileError, shown
from recombine.families.clutrr.kinship import FEMALE, MALE
from recombine.files import read_lines

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_FEMALE = """
Abigail Ada Adela Adelaide Adele Agatha Agnes Aileen Aisha Alberta Alexandra Alice Alicia Alma Althea Amanda Amelia Amina Amy
Anastasia Andrea Angela Angelica Anika Anita Anna Annabel Anneke Annette Antonia Anya Arabella Astrid Audrey Augusta Aurora Ava
Barbara Beatrice Belinda Bella Bernadette Bernice Bertha Beryl Bethany Bettina Beverly Bianca Birgit Blanche Brenda Bridget
Brigitte Camilla Candice Carla Carlotta Carmela Carmen Carolina Caroline Catherine Cecilia Celeste Celia Charlotte Chloe
Christina Claire Clara Clarissa Claudia Clementine Colleen Constance Cora Cordelia Corinne Cornelia Cynthia Dagmar Daphne
Deborah Deirdre Delia Della Delphine Denise Diana Dina Dolores Dominica Donna Dora Doreen Doris Dorothea Dorothy Edith Edna
Edwina Effie Eileen Elaine Eleanor Elena Elise Eliza Elizabeth Ella Ellen Eloise Elsa Elsie Elvira Emily Emma Enid Erica
Ernestine Esme Estelle Esther Ethel Etta Eugenia Eunice Eva Eveline Fatima Felicia Fernanda Fiona Flora Florence Frances
Francesca Freda Frieda Gabriella Genevieve Georgia Georgina Geraldine Gerda Germaine Gertrude Gilda Gillian Gina Giselle Gisela
Gladys Gloria Greta Griselda Guinevere Gwendolyn Hannah Harriet Hattie Hedwig Heidi Helen Helena Helga Henrietta Hilary Hilda
Hildegard Honora Ida Ilona Ilse Imogen Ines Ingrid Irene Irma Isabel Isabella Isadora Isolde Ivana Ivonne Jacqueline Jane Janet
Janice Jeanette Jemima Jennifer Jessica Jill Joan Joanna Jocelyn Johanna Josephine Juanita Judith Julia Juliana Juliet June
Justine Kamila Karen Karin Katarina Katherine Kathleen Katrina Kirsten Kristina Lara Latisha Laura Lavinia Leah Leila Lena Leonora
Letitia Lila Lilian Lillian Linda Lisa Livia Lois Lola Loretta Lorna Lorraine Louisa Louise Lucia Lucille Lucinda Lucretia Lucy
Ludmila Lydia Mabel Madeleine Magdalena Maisie Marcella Marcia Margaret Margot Maria Marianne Marie Marilyn Marina Marjorie
Marlene Martha Martina Mary Mathilda Maud Maureen Mavis Maxine Melanie Melinda Melissa Mercedes Meredith Michelle Mildred
Millicent Minerva Minna Miranda Miriam Moira Mona Monica Muriel Myra Myrtle Nadia Nancy Naomi Natalia Natalie Nellie Nettie
Nicole Nina Noelle Nora Norma Octavia Odette Olga Olive Olivia Ophelia Ottilie Pamela Patricia Paula Paulina Penelope Petra
Philippa Phoebe Phyllis Polly Portia Priscilla Prudence Rachel Ramona Rebecca Regina Renata Rhoda Rita Roberta Rosa Rosalia
Rosalind Rosamund Rosemary Roxanne Ruth Sabine Sabrina Salome Samantha Samira Sandra Sarah Selma Serena Shirley Sibyl Sigrid
Silvia Simone Sofia Solveig Sonia Sophie Stella Stephanie Susan Susanna Svetlana Sylvia Tabitha Tamara Tanya Tatiana Teresa
Thea Thelma Theodora Therese Tilda Tina Trudy Ulrike Una Ursula Valentina Valeria Valerie Vanessa Vera Verena Verity Veronica
Victoria Vilma Viola Violet Virginia Vivian Wanda Wendy Wilhelmina Wilma Winifred Yasmin Yolanda Yvette Yvonne Zara Zelda Zenobia
"""

_MALE = """
Aaron Abraham Adam Adrian Alan Albert Aldous Alexander Alfonso Alfred Ali Alistair Allen Ambrose Amir Anatole Anders Andreas
Andrew Angus Anselm Anthony Anton Archibald Armand Arnold Arthur Arturo Atticus August Augustus Aurelio Axel Baldwin Barnaby
Bartholomew Basil Benedict Benjamin Bernard Bertram Bertrand Boris Bradley Brendan Brian Bruno Byron Caleb Calvin Carl Carlos
Cecil Cedric Charles Christian Christopher Clarence Claude Clayton Clement Clifford Clive Colin Conrad Cornelius Craig Crispin
Curtis Cuthbert Cyril Damian Daniel Darius Darren David Declan Dennis Derek Desmond Diego Dieter Dimitri Dmitri Dominic Donald
Douglas Duncan Dustin Dwight Eamon Earl Edgar Edmund Eduardo Edward Edwin Egbert Eldon Eli Elias Elliot Emanuel Emil Emilio
Enrico Enrique Eric Ernest Ernesto Ethan Eugene Evan Everett Ezra Fabian Felipe Felix Ferdinand Fergus Fernando Finnegan Francis
Franco Franklin Franz Frederick Fritz Gabriel Gareth Gaston Gavin Geoffrey George Gerald Gerard Gideon Gilbert Giles Giovanni
Gordon Graham Gregor Gregory Guillermo Gunther Gustav Hamish Hans Harold Harry Hector Heinrich Henry Herbert Herman Hiram
Horace Howard Hubert Hugh Hugo Humphrey Ian Ignatius Igor Immanuel Isaac Isaiah Ivan Ivor Jacob Jacques Jake James Jared Jason
Javier Jeffrey Jeremiah Jeremy Jerome Joachim Joaquin Joel Johann John Jonah Jonas Jonathan Jorge Joseph Joshua Juan Julian
Julius Jurgen Justin Karl Keith Kenneth Kevin Klaus Konrad Kurt Lambert Lars Laurence Lawrence Leander Leif Leo Leon Leonard
Leopold Leroy Lewis Liam Linus Lionel Lloyd Lorenzo Louis Lucas Lucius Ludwig Luis Luther Magnus Malcolm Manfred Manuel Marcel
Marcus Mario Marius Martin Marvin Mateo Matthew Matthias Maurice Max Maximilian Maxwell Melvin Mervyn Michael Miguel Milan
Milton Mohammed Mortimer Moses Murray Nathan Nathaniel Ned Neil Nelson Nicholas Nigel Nikolai Noah Norbert Norman Oliver Olaf
Omar Orlando Orson Oscar Osmund Oswald Otto Owen Pablo Patrick Paul Pedro Percival Percy Peter Philip Pierre Quentin Rafael
Ralph Ramon Randolph Raoul Raphael Raymond Reginald Reinhard Reuben Rex Reynaldo Ricardo Richard Roberto Robert Roderick Rodney
Rodrigo Roger Roland Rolf Roman Ronald Rory Ross Rowland Rudolf Rufus Rupert Russell Salvador Samson Samuel Santiago Saul
Scott Sebastian Sergei Seth Seymour Sidney Siegfried Sigmund Silas Simon Solomon Spencer Stanley Stefan Stephen Steven Stuart
Sven Sylvester Tariq Terence Thaddeus Theodore Thomas Thorsten Timothy Tobias Tomas Travis Tristan Ulrich Ulysses Uri Valentin
Vernon Victor Vincent Virgil Vladimir Waldo Walter Warren Wesley Wilbur Wilfred Wilhelm William Winston Wolfgang Xavier Yusuf
Zachary
"""

NAMES: tuple[tuple[str, ...], tuple[str, ...]] = (
    tuple(sorted(set(_FEMALE.split()) - {"June"})),
    tuple(sorted(set(_MALE.split()) - {"August"})),
)
"""(female names, male names), in the order of the gender codes, each sorted."""

MIN_NAMES = 64
"""A user's list needs this many names of each gender, so that long stories never run out of names."""

_NAME = re.compile(r"[A-Z][A-Za-z]{1,19}")


def read_names(path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(female, male) names from a CSV of `name,gender` lines (`female`/`male`, or F/M); each name of one gender only.

    A word that the stories write with a capital (`June`, `Sunday`) is no name here: the text could not be read back.
    """
    from recombine.families.clutrr.language.store import reserved_words

    found: tuple[list[str], list[str]] = ([], [])
    for number, line in read_lines(Path(path)):
        name, _, gender = (cell.strip() for cell in line.partition(","))
        if number == 1 and gender.lower() in ("gender", "sex"):
            continue
        if not name and not gender:
            continue
        if not _NAME.fullmatch(name) or gender.lower() not in ("female", "male", "f", "m"):
            raise FileError(
                f"line {number} of {shown(path)} is {shown(line)}; expected a name and female or male: `Alice,female`."
            )
        found[MALE if gender.lower().startswith("m") else FEMALE].append(name)
    both = set(found[0]) & set(found[1])
    if both:
        raise FileError(f"{shown(path)} gives {shown(min(both))} both genders; keep one.")
    taken = (set(found[0]) | set(found[1])) & reserved_words()
    if taken:
        raise FileError(f"{shown(path)} names somebody {shown(min(taken))}, a word of the stories; leave it out.")
    female, male = tuple(sorted(set(found[0]))), tuple(sorted(set(found[1])))
    if min(len(female), len(male)) < MIN_NAMES:
        raise FileError(
            f"{shown(path)} has {len(female)} female and {len(male)} male names; at least {MIN_NAMES} of each are needed."
        )
    return female, male


@functools.cache
def name_pool(path: str = "") -> tuple[tuple[str, ...], int]:
    """(all names, female first, then male; how many are female); from a file where a path is given."""
    female, male = read_names(path) if path else NAMES
    return female + male, len(female)


def name_arrays(names: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Names end to end as bytes, and their offsets: the form in which kernels write them."""
    import numpy as np

    raw = [name.encode() for name in names]
    offsets = np.zeros(len(raw) + 1, np.int64)
    offsets[1:] = np.cumsum([len(name) for name in raw])
    return np.frombuffer(b"".join(raw), np.uint8).copy(), offsets
