"""`python -m condyle` is the command `condyle`."""

from condyle.cli.main import command

if __name__ == "__main__":
    command()
