"""The errors and warnings of this package."""


class PluginError(RuntimeError):
    """A plugin could not be registered or configured."""


class PluginWarning(UserWarning):
    """Something that works, but perhaps not as it was meant."""
