# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""External repositories made from what the host has, with no download.

Only `WORKSPACE` loads this file, so only a Bazel that runs without Bzlmod sees
it. A modern Bazel reads `MODULE.bazel` and gets the real repositories.

Each repository here offers just the labels that this project's BUILD files
use, under the same names as the real ones:

  *   `@rules_python//python:defs.bzl`: the Python rules built into this Bazel.
  *   `@pip//<distribution>`: an empty library for each line of the requirements
      file. The modules come from the interpreter's site-packages.
  *   `@host_python//:toolchain`: the interpreter named by `PYTHON_BIN_PATH`, or
      else that of the `.venv` that `make` installs, or else the `python3` found
      on `PATH` (so an active virtual environment).
  *   `@rules_cc`, `@rules_java`, `@remote_coverage_tools`: Bazel 4 looks at its
      own C++, Java and coverage tools before it runs any test, though nothing
      here uses them.
"""

_PUBLIC = "package(default_visibility = [\"//visibility:public\"])\n"

_BUILTIN_RULES = {
    "cc": [
        "cc_binary",
        "cc_import",
        "cc_library",
        "cc_proto_library",
        "cc_test",
        "cc_toolchain",
        "cc_toolchain_suite",
        "objc_library",
    ],
    "java": [
        "java_binary",
        "java_import",
        "java_library",
        "java_runtime",
        "java_test",
        "java_toolchain",
    ],
    "python": [
        "py_binary",
        "py_library",
        "py_test",
    ],
}

def _builtin_rules_impl(ctx):
    language = ctx.attr.language
    ctx.file("BUILD", _PUBLIC)
    ctx.file(language + "/BUILD", _PUBLIC)
    ctx.file(language + "/defs.bzl", "".join([
        "%s = native.%s\n" % (rule, rule)
        for rule in _BUILTIN_RULES[language]
    ]))

_builtin_rules = repository_rule(
    implementation = _builtin_rules_impl,
    attrs = {"language": attr.string(mandatory = True)},
)

def _no_coverage_impl(ctx):
    ctx.file("BUILD", _PUBLIC + "".join([
        "\nfilegroup(name = \"%s\")\n" % name
        for name in ["coverage_report_generator", "lcov_merger"]
    ]))

_no_coverage = repository_rule(implementation = _no_coverage_impl)

def _distribution(line):
    """Returns the normalized distribution name in a line of requirements."""
    name = line.split("#")[0]
    for stop in [";", "[", "=", "<", ">", "~", "!", "@", " ", "\\"]:
        name = name.split(stop)[0]
    return name.strip().lower().replace("-", "_").replace(".", "_")

_DISTRIBUTION_BUILD = """
load("@rules_python//python:defs.bzl", "py_library")

py_library(
    name = "{name}",
    # A new lock makes the results of earlier tests stale.
    data = ["{requirements}"],
)
"""

def _pip_impl(ctx):
    ctx.file("BUILD", _PUBLIC)
    for line in ctx.read(ctx.path(ctx.attr.requirements)).split("\n"):
        name = "" if line[:1] in ["-", " "] else _distribution(line)
        if name:
            ctx.file(
                name + "/BUILD",
                _PUBLIC + _DISTRIBUTION_BUILD.format(
                    name = name,
                    requirements = "@" + str(ctx.attr.requirements),
                ),
            )

_pip = repository_rule(
    implementation = _pip_impl,
    attrs = {"requirements": attr.label(mandatory = True)},
)

_HOST_PYTHON_BUILD = """
load("@bazel_tools//tools/python:toolchain.bzl", "py_runtime_pair")

py_runtime(
    name = "runtime",
    interpreter_path = "{interpreter}",
    python_version = "PY3",
    stub_shebang = "#!{interpreter}",
)

py_runtime_pair(
    name = "runtime_pair",
    py3_runtime = ":runtime",
)

toolchain(
    name = "toolchain",
    toolchain = ":runtime_pair",
    toolchain_type = "@bazel_tools//tools/python:toolchain_type",
)
"""

def _host_python_impl(ctx):
    python = ctx.os.environ.get("PYTHON_BIN_PATH")
    if not python:
        root = ctx.path(ctx.attr.requirements).dirname
        installed = root.get_child(".venv").get_child("bin").get_child("python")
        python = installed if installed.exists else ctx.which("python3")
    if not python:
        fail("No python3 on PATH; run make test or set PYTHON_BIN_PATH.")

    # `sys.executable` sees through a launcher such as pyenv's, yet keeps the
    # link that makes an interpreter part of its virtual environment.
    result = ctx.execute([python, "-c", "import sys; print(sys.executable)"])
    if result.return_code:
        fail("%s does not run: %s" % (python, result.stderr))
    ctx.file("BUILD", _PUBLIC + _HOST_PYTHON_BUILD.format(
        interpreter = result.stdout.strip(),
    ))

_host_python = repository_rule(
    implementation = _host_python_impl,
    attrs = {"requirements": attr.label(mandatory = True)},
    environ = [
        "PATH",
        "PYTHON_BIN_PATH",
    ],
    local = True,
)

# buildifier: disable=unnamed-macro
def host_repositories(requirements):
    """Declares the repositories and registers the host's interpreter.

    Args:
      requirements: Label of the requirements file, at the repository root,
        whose distributions become the packages of `@pip`.
    """
    for language in _BUILTIN_RULES:
        _builtin_rules(name = "rules_" + language, language = language)
    _no_coverage(name = "remote_coverage_tools")
    _pip(name = "pip", requirements = requirements)
    _host_python(name = "host_python", requirements = requirements)
    native.register_toolchains("@host_python//:toolchain")
