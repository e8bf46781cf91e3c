# The page. marimo runs these cells, each anew when something it takes has changed; page.css lays
# out what they show, and knows them by their names. What is computed and said is in the modules
# beside this one: here is only what belongs together.
import marimo

app = marimo.App(
    width="full",
    app_title="memcurve explore",
    css_file="page.css",
    html_head_file="page_head.html",
)

with app.setup:
    from dataclasses import replace
    from functools import partial  # what a lambda takes may have changed when it is called

    import marimo as mo

    from memcurve import ensembles, masks
    from memcurve.auditing.structure import squeezing_of
    from memcurve.errors import UncertainResultError
    from memcurve.exploring import figures, jobs, widgets
    from memcurve.exploring.files import ENDINGS, MOST_BYTES, START_FILE, network_of, python_lines
    from memcurve.exploring.scene import (
        MOST_NODES,
        NOISES,
        OWN_MASK,
        PageSettings,
        moved_scene,
        read_link,
        scene_of,
    )


@app.cell
def title():
    page = widgets.page_now()
    first, _wrong = read_link(mo.query_params().to_dict())
    _said = figures.explained("Not all of the address can be used.", " ".join(_wrong))
    mo.Html(figures.TITLE + _said)
    return first, page


@app.cell
def controls(first):
    _wide = {"full_width": True}
    _typed, _shown = _wide | {"include_input": True}, _wide | {"show_value": True}

    def _slider(start, stop, step, value, label):
        return mo.ui.slider(start, stop, step, value=value, label=label, **_shown)

    ensemble = mo.ui.dropdown(list(ensembles.ENSEMBLES), first.ensemble, label="ensemble", **_wide)
    size = mo.ui.slider(1, MOST_NODES, value=first.size, label="nodes N", **_typed)
    radius = _slider(0.01, 1.1, 0.01, first.spectral_radius, "spectral radius ρ")
    density = _slider(0.01, 1.0, 0.01, first.density, "density of the weights")
    mask = mo.ui.dropdown([OWN_MASK, *masks.MASKS], first.mask, label="input mask", **_wide)
    seed = mo.ui.number(0, 999, 1, value=first.seed, label="seed", **_wide)
    colour = _slider(-0.95, 0.95, 0.05, first.colour, "colour of the input, AR(1)")
    _noises = {"steps": list(NOISES), "value": first.noise}
    noise = mo.ui.slider(**_noises, label="noise on the states", **_shown)
    upload = mo.ui.file(filetypes=ENDINGS, max_size=MOST_BYTES, label="Open a file")
    mo.vstack([ensemble, size, radius, density, mask, seed, colour, noise, upload], gap=0.7)
    return colour, density, ensemble, mask, noise, radius, seed, size, upload


@app.cell
def switch(upload):
    name, contents = next(iter(START_FILE.items()), (None, b""))
    if upload.value:
        name, contents = upload.value[0].name, upload.value[0].contents
    use_file = mo.ui.switch(value=name is not None, label="use the file")
    use_file if name is not None else None
    return contents, name, use_file


@app.cell
def network_now(contents, name, draft, use_file):
    file = name if use_file.value else None
    base, _trouble = None, ""
    try:
        _read = None if file is None else network_of(file, contents, draft.mask, draft.seed)
        base = scene_of(draft.network() if _read is None else _read)
    except (ValueError, UncertainResultError, MemoryError) as _error:
        _trouble = str(_error)
    mo.Html(figures.about_settings(draft, file, _trouble))
    return base, file


@app.cell
def summary(scene, settings):
    mo.Html(figures.about_result(scene, figures.summary(scene, settings)))


@app.cell
def memory(page, scene, settings):
    curves = widgets.memory(page, scene, settings)
    return (curves,)


@app.cell
def spectrum(base):
    mo.stop(base is None)
    disc = mo.ui.anywidget(widgets.disc_of(base.eigenvalues, movable=figures.is_movable(base)))
    mo.vstack([mo.Html(figures.heading(figures.disc_section(base))), disc])
    return (disc,)


@app.cell
def usable(page, scene, settings):
    _job = jobs.usable, (scene.network, settings.arguments())
    widgets.arriving(page, {"usable": _job}, partial(figures.usable_section, settings))


@app.cell
def theorem(lag, scene):
    widgets.theorem(scene, lag)


@app.cell
def usual(draft, page, scene):
    _given = (scene.network, figures.compared_lags(scene), draft.seed)
    _jobs = {way: (jobs.estimate, (way, *_given)) for way in jobs.shown_methods()}
    widgets.arriving(page, _jobs, partial(figures.usual_section, scene))


@app.cell
def squeezing(page, scene):
    _job = squeezing_of, (scene.network, scene.curve.rank)
    widgets.arriving(page, {"squeezing": _job}, figures.squeezed_section)


@app.cell
def home(curves, file, moved, scene, settings):
    _lines = python_lines(settings, lags=figures.compared_lags(scene), file=file, moved=moved)
    widgets.home(curves, _lines, settings.link() if file is None and moved is None else None)


@app.cell
def draft_now(density, ensemble, first, mask, radius, seed, size):
    # what the network is made of: input and noise leave it, and a moved eigenvalue, alone
    draft = PageSettings(
        ensemble=ensemble.value,
        size=round(size.value),
        spectral_radius=round(float(radius.value), 6),
        density=round(float(density.value), 6),
        mask=mask.value,
        seed=first.seed if seed.value is None else round(seed.value),
    )
    return (draft,)


@app.cell
def settings_now(colour, draft, noise):
    settings = replace(draft, noise=float(noise.value), colour=round(float(colour.value), 6))
    return (settings,)


@app.cell
def moving(base, disc):
    moved, scene, _trouble = widgets.moved_of(disc.value), base, ""
    if moved is not None:
        try:
            scene = moved_scene(base, *moved)
        except (ValueError, UncertainResultError) as _error:
            moved = None
            _trouble = f"{_error} What is shown is the network without the move."
    mo.Html(figures.explained("The eigenvalue cannot be moved there.", _trouble))
    return moved, scene


@app.cell
def lag_memory():
    chosen_lags = []  # the last one stays when the network changes
    return (chosen_lags,)


@app.cell
def lag_control(chosen_lags, scene):
    _start = min([*chosen_lags[-1:], figures.telling_lag(scene)][0], scene.end)
    _how = {"include_input": True, "full_width": True, "on_change": chosen_lags.append}
    lag = mo.ui.slider(0, scene.end, value=_start, label="lag τ", **_how)
    return (lag,)


if __name__ == "__main__":
    app.run()
