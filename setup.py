"""The part of the packaging that pyproject.toml cannot express: the documents are beside the code in a clone and inside `league` in a wheel."""

from setuptools import find_namespace_packages, setup

CODE = ("bots", "engine", "league")

setup(
    packages=[
        # Folders of templates, pictures and bots count as packages, so each includes its files.
        *find_namespace_packages(
            include=[pattern for name in CODE for pattern in (name, f"{name}.*")],
            exclude=["*.__pycache__", "*._compiled", "*._compiled.*"],
        ),
        "league.docs",
        *(f"league.docs.{name}" for name in find_namespace_packages("docs")),
    ],
    package_dir={"league.docs": "docs"},
    include_package_data=False,
    package_data={"": ["*"]},
    exclude_package_data={"": ["*.so", "*.py[co]"]},
)
