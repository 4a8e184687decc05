# --- build
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

setup(
    name="rms_norm",
    ext_modules=[CppExtension("librms_norm", ["rms_norm.cc"], py_limited_api=True)],
    cmdclass={"build_ext": BuildExtension.with_options(no_python_abi_suffix=True)},
)
