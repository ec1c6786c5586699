"""How sure a number is: intervals over clusters, paired differences, corrected p values."""
