"""The `featurekit` command: one module a sub-command, imported when it is called."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import click

from featurekit.errors import FeatureKitError

__all__ = ["main"]

# The sub-commands and the modules that define them, each as a click command `command`.
_COMMANDS = {
    "build": "featurekit.cli.build",
    "info": "featurekit.cli.info",
    "inspect": "featurekit.cli.inspect",
    "infer": "featurekit.cli.infer",
    "validate": "featurekit.cli.validate",
    "diff": "featurekit.cli.diff",
    "index": "featurekit.cli.index",
    "convert": "featurekit.cli.convert",
}


class _Commands(click.Group):
    """Imports a sub-command when it is asked for; shows our errors without a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(_COMMANDS[cmd_name]).command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except FeatureKitError as error:
            click.echo(f"{type(error).__name__}: {error}", err=True)
            ctx.exit(1)


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="featurekit")
def main() -> None:
    """Build, inspect and check datasets in the format of TensorFlow Datasets."""


if __name__ == "__main__":
    sys.exit(main())
