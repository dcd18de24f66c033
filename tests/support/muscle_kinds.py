"""Models whose muscles are of one kind, and their forces at the lengths that OpenSim finds."""

import re

import casadi as ca
import numpy as np

import homodyn as hd
from homodyn.muscle.forces import model_of

SETTINGS = {
    "Thelen2003Muscle": """
        <FmaxTendonStrain>0.04</FmaxTendonStrain><FmaxMuscleStrain>0.5</FmaxMuscleStrain>
        <KshapeActive>0.5</KshapeActive><KshapePassive>4</KshapePassive><Af>0.3</Af>
        <Flen>1.8</Flen><minimum_activation>0.02</minimum_activation>
        <min_control>0.02</min_control>""",
    "Millard2012EquilibriumMuscle": """
        <fiber_damping>0.05</fiber_damping><minimum_activation>0.02</minimum_activation>
        <min_control>0.02</min_control>
        <ActiveForceLengthCurve><min_norm_active_fiber_length>0.4</min_norm_active_fiber_length>
        <transition_norm_fiber_length>0.75</transition_norm_fiber_length>
        <max_norm_active_fiber_length>1.9</max_norm_active_fiber_length>
        <shallow_ascending_slope>0.75</shallow_ascending_slope></ActiveForceLengthCurve>
        <ForceVelocityCurve><concentric_slope_near_vmax>0.3</concentric_slope_near_vmax>
        <isometric_slope>4</isometric_slope>
        <max_eccentric_velocity_force_multiplier>1.5</max_eccentric_velocity_force_multiplier>
        <concentric_curviness>0.5</concentric_curviness>
        <eccentric_curviness>0.8</eccentric_curviness></ForceVelocityCurve>
        <FiberForceLengthCurve><strain_at_zero_force>-0.1</strain_at_zero_force>
        <strain_at_one_norm_force>0.6</strain_at_one_norm_force>
        <stiffness_at_low_force>0.2</stiffness_at_low_force>
        <stiffness_at_one_norm_force>3</stiffness_at_one_norm_force>
        <curviness>0.7</curviness></FiberForceLengthCurve>
        <TendonForceLengthCurve><strain_at_one_norm_force>0.04</strain_at_one_norm_force>
        <stiffness_at_one_norm_force>35</stiffness_at_one_norm_force>
        <norm_force_at_toe_end>0.6</norm_force_at_toe_end>
        <curviness>0.6</curviness></TendonForceLengthCurve>""",
    "DeGrooteFregly2016Muscle": """
        <fiber_damping>0.02</fiber_damping>
        <active_force_width_scale>1.2</active_force_width_scale>
        <tendon_strain_at_one_norm_force>0.06</tendon_strain_at_one_norm_force>""",
}
"""Settings by kind; none has its default value."""


def write_kind(source, folder, kind, *, settings=None, rigid=False):
    """The path of a copy of a model whose muscles have another kind and other settings."""
    text = source.read_text().replace("DeGrooteFregly2016Muscle", kind)
    old = r"<ignore_tendon_compliance>.*?</passive_fiber_strain_at_one_norm_force>"
    new = SETTINGS[kind] if settings is None else settings
    flag = f"<ignore_tendon_compliance>{str(rigid).lower()}</ignore_tendon_compliance>"
    # Order does not matter: OpenSim reads properties by name.
    changed, count = re.subn(old, flag + new, text, flags=re.DOTALL)
    assert count
    path = folder / f"{kind}{'_rigid' if rigid else ''}.osim"
    path.write_text(changed)
    return path


def random_motion(model, count, seed=4, speed=3.0):
    """Positions near zero, speeds and activations."""
    generator = np.random.default_rng(seed)
    lower, upper = np.maximum(model.lower, -1.5), np.minimum(model.upper, 1.5)
    states = generator.uniform(lower, upper, (count, model.nv))
    speeds = speed * generator.normal(size=states.shape)
    return states, speeds, generator.uniform(0, 1, (count, len(model.muscles)))


def evaluate(model, formula, *tables):
    """A formula of (muscle, its model, one number of each table) for all states and muscles."""
    symbols = [ca.SX.sym("x", len(model.muscles)) for _ in tables]
    rows = [
        formula(muscle, law, *(s[k] for s in symbols))
        for k, (muscle, law) in enumerate(zip(model.muscles, model_of(model, None), strict=True))
    ]
    function = ca.Function("rows", symbols, [ca.vertcat(*rows)])
    states = len(tables[0])
    return np.asarray(function.map(states)(*(np.asarray(t).T for t in tables))).T


def strengths(model):
    """Maximum isometric forces, N."""
    return np.array([muscle.max_isometric_force for muscle in model.muscles])


def load_kind(source, folder, kind, **options):
    """The path of a copy of a model and the model; see `write_kind`."""
    path = write_kind(source, folder, kind, **options)
    return path, hd.load(path)
