"""C for programs with predicated regions: each region is behind one branch."""

from __future__ import annotations

from homodyn.symbolic.codegen import Pieces
from homodyn.symbolic.passes.predicated_regions import find_regions, order_with_regions
from homodyn.symbolic.program import Program


class PredicatedPieces(Pieces):
    """Pieces with regions behind branches; only for programs of one piece."""

    def statements(self, k: int) -> list[str]:
        """The text of a piece, statement by statement."""
        if self.count != 1:
            return super().statements(k)
        program = Program(self.instructions, self.results)
        order = order_with_regions(program, find_regions(program, set(self.pairs)))
        if order is None:
            return super().statements(k)
        lines: list[str] = []
        masked: set[int] = set()
        for item in order:
            if isinstance(item, int):
                lines += self.instruction_text(item, masked)
                continue
            lines += [f"vreal t{root} = v_set(0.0);" for root in item.roots]
            lines.append(f"if (v_any({self.mask(item.condition, masked)})) {{")
            for member in item.members:
                (text,) = self.instruction_text(member, masked)
                inner = text.removeprefix("const vreal ") if member in item.roots else text
                lines.append(inner)
            lines.append("}")
        return lines
