"""Surfaces of bodies: their files are found, and their triangles read."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import FormatError
from homodyn.model.formats import find_surface_file, read_surface
from homodyn.model.formats.surface_files import STL_FACET
from homodyn.model.shapes import Mesh
from support import muscled_leg
from support.surfaces import TETRAHEDRON, write_obj, write_stl, write_vtp

CORNERS, FACES = TETRAHEDRON


def as_facets(vertices, triangles):
    return sorted(np.round(vertices[triangles].reshape(-1, 9), 6).tolist())


@pytest.mark.parametrize("write", [write_vtp, write_stl, write_obj])
def test_all_formats_have_the_same_triangles(tmp_path, write):
    path = write(tmp_path / "bone", CORNERS, FACES)
    vertices, triangles = read_surface(path)
    assert len(vertices) == len(CORNERS)
    assert as_facets(vertices, triangles) == as_facets(CORNERS, FACES)


def test_binary_stl(tmp_path):
    facets = np.zeros(len(FACES), STL_FACET)
    facets["corners"] = CORNERS[FACES]
    path = tmp_path / "bone.STL"
    # Some writers begin binary files with the word of text files.
    path.write_bytes(
        b"solid".ljust(80) + np.array([len(FACES)], "<u4").tobytes() + facets.tobytes()
    )
    assert as_facets(*read_surface(path)) == as_facets(CORNERS, FACES)


def test_polygons_of_wavefront_files_count_from_both_ends(tmp_path):
    path = tmp_path / "bone.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\nf 1//1 2//1 3//1 -1//1\n")
    _, triangles = read_surface(path)
    assert triangles.tolist() == [[0, 1, 2], [0, 2, 3]]


def test_faults_are_named(tmp_path):
    with pytest.raises(FormatError, match=r"surfaces of \.ply files; \.vtp, \.stl, \.obj are"):
        read_surface(tmp_path / "bone.ply")
    (tmp_path / "bone.stl").write_bytes(bytes(80) + b"\x05\0\0\0" + bytes(60))
    with pytest.raises(
        FormatError, match="5 facets are stated, which need 334 bytes; there are 144"
    ):
        read_surface(tmp_path / "bone.stl")
    (tmp_path / "bone.obj").write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 7\n")
    with pytest.raises(FormatError, match="a face has vertex 7; there are 3"):
        read_surface(tmp_path / "bone.obj")
    (tmp_path / "bone.obj").write_text("v 0 0 zero\n")
    with pytest.raises(FormatError, match="line 1 is not a vertex or a face: 'v 0 0 zero'"):
        read_surface(tmp_path / "bone.obj")
    write_obj(tmp_path / "bone", np.full((4, 3), np.nan), FACES)
    with pytest.raises(FormatError, match="a coordinate of a vertex is not a number"):
        read_surface(tmp_path / "bone.obj")


def test_files_are_found_where_opensim_looks(tmp_path, monkeypatch):
    beside, geometry, installed = tmp_path / "a", tmp_path / "b", tmp_path / "opensim"
    for folder in (beside, geometry / "Geometry", installed / "Geometry"):
        folder.mkdir(parents=True)
    write_vtp(beside / "femur", CORNERS, FACES)
    write_vtp(geometry / "Geometry" / "tibia", CORNERS, FACES)
    write_vtp(installed / "Geometry" / "talus", CORNERS, FACES)
    monkeypatch.setenv("OPENSIM_HOME", str(installed))
    for name, folder in (("femur", beside), ("tibia", geometry), ("talus", beside)):
        found = find_surface_file(Mesh("thigh", f"{name}.vtp", folder=str(folder)))
        assert found is not None
        assert found.name == f"{name}.vtp"
    other = find_surface_file(Mesh("thigh", "package://leg/meshes/femur.vtp", folder=str(beside)))
    assert other == beside / "femur.vtp"
    assert find_surface_file(Mesh("thigh", "tibia.vtp", folder=str(beside))) is None
    assert find_surface_file(Mesh("thigh", "femur.vtp")) is None
    assert find_surface_file(Mesh("thigh", "femur.ply", folder=str(beside))) is None


def test_a_model_knows_the_folder_of_its_meshes_and_is_the_same_in_another(tmp_path):
    leg = replace(muscled_leg.build(), meshes=(Mesh("thigh", "femur.vtp", scale=(1, 2, 3)),))
    models = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        hd.save(leg, tmp_path / name / "leg.osim")
        models.append(hd.load(tmp_path / name / "leg.osim"))
    assert [model.meshes[0].folder for model in models] == [
        str(tmp_path / "one"), str(tmp_path / "two")
    ]  # fmt: skip
    assert models[0] == models[1]
    assert hd.catalog.scale(models[0], 1.1).meshes[0].folder == str(tmp_path / "one")
