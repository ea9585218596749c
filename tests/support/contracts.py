"""A contract for import-linter (`.importlinter`): no cycle of modules, wherever they are.

`acyclic_siblings` compares the children of one package. It does not see a module that imports the package above it, which in turn imports
the module. This contract does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import networkx
from importlinter import Contract, ContractCheck, fields, output

if TYPE_CHECKING:
    from grimp import ImportGraph


class NoRings(Contract):
    """Fails if modules of `packages` import one another in a cycle. Imports for types and imports inside functions count."""

    packages = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Return the cycles, each as the sorted names of its modules."""
        # In an instance, a field of the class is its list of values; import-linter's types do not say so.
        packages: list[str] = self.packages  # type: ignore[assignment]
        inside = {name for name in graph.modules if name.split(".")[0] in packages}
        arrows = networkx.DiGraph(
            (importer, imported)
            for importer in inside
            for imported in graph.find_modules_directly_imported_by(importer)
        )
        rings = [sorted(ring) for ring in networkx.strongly_connected_components(arrows) if len(ring) > 1]
        return ContractCheck(kept=not rings, metadata={"rings": sorted(rings)})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print the modules of each cycle."""
        for ring in check.metadata["rings"]:
            output.print_error(f"{len(ring)} modules import one another in a ring: {', '.join(ring)}")
