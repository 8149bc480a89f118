"""`nearly completion`: the script that teaches a shell to complete nearly's commands."""

import click

from nearly.cli import exit_code
from nearly.cli.section import Command

__all__ = ["completion"]


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> int:
    """Print the completion script for a SHELL.

    \b
    eval "$(nearly completion bash)"                   in ~/.bashrc
    eval "$(nearly completion zsh)"                    in ~/.zshrc
    nearly completion fish | source                    in ~/.config/fish/config.fish
    """
    from click.shell_completion import get_completion_class

    script = get_completion_class(shell)
    assert script is not None  # noqa: S101 - the choices above are click's own
    root = context.find_root().command
    click.echo(script(root, {}, "nearly", "_NEARLY_COMPLETE").source())
    return exit_code.CLEAN
