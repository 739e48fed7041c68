"""From answers to scores, statistics, named mistakes and a report."""
