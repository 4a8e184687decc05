"""What this package raises."""


class PluginError(RuntimeError):
    """A plugin could not be registered or configured."""
