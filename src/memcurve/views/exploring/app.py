# /// script
# [tool.marimo.display]
# theme = "system"
# ///

# The page. marimo reruns each of these cells when one of its arguments changes; page.css lays out
# their output by their names. Computations and sentences are in the other modules of this package.
import marimo

app = marimo.App(
    width="full", app_title="memcurve explore", css_file="page.css", html_head_file="page_head.html"
)

with app.setup:
    from dataclasses import replace
    from functools import partial  # what a lambda takes may have changed when it is called

    import marimo as mo

    from memcurve.core.errors import UncertainResultError, UnstableNetworkError
    from memcurve.network import ensembles, masks
    from memcurve.views.exploring import figures, jobs, widgets
    from memcurve.views.exploring.files import MOST_BYTES, START_FILE, network_of, python_lines
    from memcurve.views.exploring.scene import (
        HIGHEST_RADIUS,
        MOST_NODES,
        NOISES,
        OWN_MASK,
        PageSettings,
        moved_scene,
        scene_of,
    )
    from memcurve.views.exploring.stories import STORIES


@app.cell
def title():
    mo.Html(figures.TITLE)


@app.cell
def stories():
    chosen_story, _choose = mo.state(None)
    story_buttons = [
        mo.ui.button(label=_name, on_change=partial(lambda name, _: _choose(name), _name))
        for _name in STORIES
    ]
    mo.hstack(story_buttons, wrap=True, justify="start", gap=0.4)
    return chosen_story, story_buttons


@app.cell
def start(chosen_story):
    story = STORIES.get(chosen_story())
    first = PageSettings() if story is None else story.settings
    return first, story


@app.cell
def opening():
    # of any kind: of one that holds no network the page says so
    upload = mo.ui.file(max_size=MOST_BYTES, label="Open a file")
    uploads = []  # the one that was shown last
    return upload, uploads


@app.cell
def controls(first, upload):
    _wide = {"full_width": True}
    _typed, _shown = _wide | {"include_input": True}, _wide | {"show_value": True}

    def _slider(start, stop, step, value, label):
        return mo.ui.slider(start, stop, step, value=value, label=label, **_shown)

    ensemble = mo.ui.dropdown(list(ensembles.ENSEMBLES), first.ensemble, label="ensemble", **_wide)
    size = mo.ui.slider(1, MOST_NODES, value=first.size, label="nodes N", **_typed)
    radius = _slider(0.01, HIGHEST_RADIUS, 0.01, first.spectral_radius, "spectral radius ρ")
    density = _slider(0.01, 1.0, 0.01, first.density, "density of the weights")
    mask = mo.ui.dropdown([OWN_MASK, *masks.MASKS], first.mask, label="input mask", **_wide)
    seed = mo.ui.number(0, 999, 1, value=first.seed, label="seed", **_wide)
    colour = _slider(-0.95, 0.95, 0.05, first.colour, "colour of the input, AR(1)")
    _noises = {"steps": list(NOISES), "value": first.noise}
    noise = mo.ui.slider(**_noises, label="noise on the states", **_shown)
    _named = {
        "ensemble": ensemble, "size": size, "spectral_radius": radius, "density": density,
        "mask": mask, "seed": seed, "colour": colour, "noise": noise, "file": upload,
    }  # fmt: skip
    mo.Html(figures.controls({_name: _control.text for _name, _control in _named.items()}))
    return colour, density, ensemble, mask, noise, radius, seed, size


@app.cell
def switch(story, upload, uploads):
    name, contents = next(iter(START_FILE.items()), (None, b""))
    _is_new = bool(upload.value) and upload.value[0] not in uploads
    if upload.value:
        name, contents = upload.value[0].name, upload.value[0].contents
        uploads[:] = upload.value[:1]
    # the later of file and story
    use_file = mo.ui.switch(
        value=name is not None and (story is None or _is_new), label="use the file"
    )
    scale_file = mo.ui.switch(label="scale it to ρ")
    mo.hstack([use_file, scale_file], justify="end", gap=1.5) if name is not None else None
    return contents, name, scale_file, use_file


@app.cell
def network_now(contents, name, draft, rest, scale_file, use_file):
    file = name if use_file.value else None
    scaled = scale_file.value and file is not None
    base, _trouble = None, ""
    try:
        if file is None:
            _network = draft.network()
        else:
            _radius = draft.spectral_radius if scaled else None
            _network = network_of(file, contents, draft.mask, draft.seed, _radius)
        base = scene_of(_network)
    except (ValueError, UncertainResultError, MemoryError) as _error:
        _trouble = str(_error)
        if isinstance(_error, UnstableNetworkError) and file is not None:
            _trouble += figures.SCALE_IT
        rest(None)
    mo.Html(figures.about_settings(draft, file, _trouble, scaled=scaled))
    return base, file, scaled


@app.cell
def summary(scene, settings):
    mo.stop(scene is None)
    widgets.headline(scene, settings)


@app.cell
def current_story(file, moved, scene, settings, story):
    # shown as long as the controls stay where it puts them
    _is_current = story is not None and scene is not None and settings == story.settings
    current = story if _is_current and file is None and moved is None else None
    return (current,)


@app.cell
def story_text(current, scene):
    mo.stop(current is None)
    widgets.story_text(scene, current)


@app.cell
def strength_control():
    _options = {"label": "strength s", "show_value": True, "full_width": True}
    strength = mo.ui.slider(steps=list(figures.STRENGTHS), value=figures.STRENGTHS[8], **_options)
    return (strength,)


@app.cell
def products(current, scene, strength):
    mo.stop(current is None or current.kind != "products")
    widgets.beside(figures.products_section(scene, strength.value), strength)


@app.cell
def memory(base, scene, settings):
    mo.stop(scene is None)
    widgets.memory(scene, settings, base)


@app.cell
def spectrum(base):
    # defined in any case: what depends on it runs for other reasons, too
    disc, _shown = None, None
    if base is not None:
        disc = mo.ui.anywidget(widgets.disc_of(base.eigenvalues, movable=figures.is_movable(base)))
        _said = figures.disc_section(base)
        _title, _text = mo.Html(figures.heading(_said.title)), mo.Html(figures.says(_said.text))
        _shown = mo.vstack([_title, disc, _text])
    _shown
    return (disc,)


@app.cell
def usable(rested, settings):
    mo.stop(rested() is None)
    _job = jobs.usable, (rested().scene.network, settings.arguments())
    widgets.section({"usable": _job}, partial(figures.usable_section, settings))


@app.cell
def standard(rested):
    mo.stop(rested() is None)
    _scene = rested().scene
    _given = (_scene.network, figures.compared_lags(_scene), rested().draft.seed)
    _jobs = {way: (jobs.estimate, (way, *_given)) for way in jobs.shown_methods()}
    widgets.section(_jobs, partial(figures.standard_section, _scene))


@app.cell
def export(file, rested, scaled, settings):
    mo.stop(rested() is None)
    _scene, _moved = rested().scene, rested().moved
    _lines = python_lines(settings, file=file, scaled=scaled, moved=_moved)
    widgets.export(_scene, settings, _lines)


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
def resting():
    # while an eigenvalue is held, all that is not beside it waits
    rested, rest = mo.state(None)
    return rest, rested


@app.cell
def moving(base, disc, draft, rest):
    _move = {} if disc is None else disc.value
    moved, scene, _trouble = widgets.moved_of(_move), base, ""
    if moved is not None:
        try:
            scene = moved_scene(base, *moved)
        except (ValueError, UncertainResultError) as _error:
            moved = None
            _trouble = f"{_error} What is shown is the network without the move."
    if scene is not None and not _move.get("held"):
        rest(widgets.Rested(draft, moved, scene))
    mo.Html(figures.explained("The eigenvalue cannot be moved there.", _trouble))
    return moved, scene


if __name__ == "__main__":
    app.run()
