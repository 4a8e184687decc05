//! The bundled PJRT plugin.
