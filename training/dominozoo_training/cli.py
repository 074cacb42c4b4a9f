"""The command line, ``dominozoo``.

Each command imports what it needs, so that ``list`` and the arena of scripted bots run without
torch.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from dominozoo_training import remedy
from dominozoo_training.files import check_writable, write_file, writing

BAD_INPUT: Final = 2
CTRL_C: Final = 130

app = typer.Typer(
    name="dominozoo",
    help="Domino games: train policies, judge them, play them, take them elsewhere.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def print_version(wanted: bool) -> None:
    """Print the version and end, if it is asked for."""
    if wanted:
        from dominozoo import __version__

        typer.echo(f"dominozoo {__version__}")
        raise typer.Exit


@app.callback()
def top(
    version: Annotated[  # typer passes it to print_version
        bool,
        typer.Option("--version", callback=print_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Take the options that stand before a command."""


def say(line: str) -> None:
    """A line on stderr."""
    typer.echo(f"dominozoo: {line}", err=True)


@contextmanager
def refusing(*errors: type[Exception]) -> Iterator[None]:
    """Turn errors of bad input into one line on stderr and exit code 2."""
    try:
        yield
    except errors as error:
        say(str(error))
        raise typer.Exit(BAD_INPUT) from None


@contextmanager
def needing(extras: str) -> Iterator[None]:
    """Turn a library that is missing into one line that says what to install, exit code 2."""
    try:
        yield
    except ModuleNotFoundError as error:
        say(f"{error.name} is missing: {remedy(extras)}")
        raise typer.Exit(BAD_INPUT) from None


@contextmanager
def ended_by_hand(kept: Callable[[], str]) -> Iterator[None]:
    """Turn Ctrl-C into one line on stderr, which says what is kept, and exit code 130."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"interrupted; {kept()}")
        raise typer.Exit(CTRL_C) from None


def write_json(path: str, value: Any) -> None:
    """Write JSON to the file of ``--json``, whole or not at all; "-" prints it."""
    text = json.dumps(value, indent=1) + "\n"
    if path == "-":
        typer.echo(text, nl=False)
        return
    with writing("json", path):
        write_file(Path(path), text.encode())


def say_if_compiling(kernel: Any, search: Any = None) -> None:
    """Say on stderr why the first start takes so long; arguments as of ``compiling.notice``."""
    from dominozoo_training.compiling import notice

    if words := notice(kernel, search):
        say(words)


@app.command("list")
def list_games() -> None:
    """Show the games with their options, and the scripted bots."""
    from rich.console import Console
    from rich.table import Table

    from dominozoo.bots import DESCRIPTIONS, TRUC_DESCRIPTIONS
    from dominozoo.rules import VARIANTS

    console = Console()
    games = Table("game", "what", "option", "default", "takes")
    for name, variant in VARIANTS.items():
        first = (name, variant.title)
        for key, option in variant.options.items():
            games.add_row(*first, key, str(option.default), option.takes())
            first = ("", "")
        games.add_section()
    console.print(games)
    bots = Table("bot", "how it plays the line games", "how it plays Domino Le Truc")
    for name, words in DESCRIPTIONS.items():
        bots.add_row(name, words, TRUC_DESCRIPTIONS[name])
    console.print(bots)


@app.command()
def arena(
    game: Annotated[str, typer.Argument(help="A game such as block or 'draw(players=3)'.")],
    players: Annotated[
        str,
        typer.Option(
            help="Two or more, with commas: hard, search(deals=50), omniscient, a checkpoint folder, "
            "x.dombot, model.zip, mod:f."
        ),
    ],
    deals: Annotated[
        int, typer.Option(help="Deals, each played in every rotation; with --until-ci the most.")
    ] = 20000,
    seed: Annotated[int, typer.Option(help="Same seed, same result.")] = 1,
    unit: Annotated[str, typer.Option(help="hand or match.")] = "hand",
    opening: Annotated[
        str | None,
        typer.Option(help="both, rule or free. Default: both where winners pose, else rule."),
    ] = None,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="all: every pair; swiss: rounds of pairs by standing; tables: different players at "
            "each table.",
        ),
    ] = "all",
    rounds: Annotated[int | None, typer.Option(help="Rounds of --format swiss.")] = None,
    until_ci: Annotated[
        float | None,
        typer.Option(help="Stop when no interval is wider than +- so many points of the win rate."),
    ] = None,
    processes: Annotated[int, typer.Option(help="Play in so many; the result is the same.")] = 1,
    out: Annotated[
        Path | None,
        typer.Option(help="Keep what is finished in this folder; the same command goes on there."),
    ] = None,
    move_time: Annotated[
        float | None, typer.Option(help="Seconds that a decision of an outside player may take.")
    ] = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Stop when a player crashes, is late or plays illegally."),
    ] = False,
    style: Annotated[bool, typer.Option("--style", help="Tell how everybody plays.")] = False,
    html: Annotated[Path | None, typer.Option(help="Write a report, one HTML file.")] = None,
    plots: Annotated[Path | None, typer.Option(help="A folder for the report's pictures.")] = None,
    json_file: Annotated[
        str | None, typer.Option("--json", help="Write the result here; - prints it alone.")
    ] = None,
) -> None:
    """Judge players against each other: duplicate deals, seats rotated, 95 % intervals."""
    from dominozoo.rules import RulesError
    from dominozoo_training import compiling
    from dominozoo_training.bench import machine
    from dominozoo_training.evaluation import command
    from dominozoo_training.evaluation.asking import Conduct
    from dominozoo_training.evaluation.entrants import EntrantError, split_players
    from dominozoo_training.evaluation.setting import ArenaError, make_setting

    with (
        refusing(RulesError, ArenaError, EntrantError, OSError, ImportError),
        ended_by_hand(lambda: command.kept(out)),
    ):
        setting = make_setting(game, deals, seed, unit, opening)
        entrants = command.load(split_players(players), setting)
        conduct = Conduct(strict, move_time, style)
        plan = command.make_plan(
            *(setting, entrants), form=form, rounds=rounds, until_ci=until_ci, conduct=conduct
        )
        check_writable(json_file)
        check_writable(html, "html")
        command.check_pictures(html, plots)
        rules = setting.rules
        say_if_compiling(compiling.of_bots(rules), compiling.of_search(rules, entrants))
        outcome = command.play(plan, entrants, processes, out)
        result = command.told(outcome, machine(), say)
        if json_file != "-":  # first: a disk that is full takes nothing from what was played
            command.show(outcome, result)
        if json_file is not None:
            write_json(json_file, result)
        command.write_pictures(html, plots, result, entrants)


@app.command()
def review(
    games: Annotated[
        list[str],
        typer.Argument(metavar="GAMES...", help="Files of game records, or a game's name."),
    ],
    players: Annotated[
        str | None,
        typer.Option(
            help="One a seat, with commas; fewer are repeated. Default: hard. "
            "With files: whose opinion is asked, default none."
        ),
    ] = None,
    hands: Annotated[
        int | None, typer.Option("--games", help="Hands to play of the game named. Default: 100.")
    ] = None,
    deals: Annotated[int, typer.Option(help="Deals imagined for each decision.")] = 50,
    budget: Annotated[
        int, typer.Option(help="Positions that solving a deal may take, as in search(budget=).")
    ] = 20000,
    objective: Annotated[str, typer.Option(help="points or win.")] = "points",
    seed: Annotated[int, typer.Option(help="Same seed, same result.")] = 1,
    html: Annotated[Path | None, typer.Option(help="Write a page of one game.")] = None,
    json_file: Annotated[
        str | None, typer.Option("--json", help="Write the result here; - prints it alone.")
    ] = None,
) -> None:
    """Look at games again: what each decision's moves were worth, and what the one played lost."""
    from rich.console import Console

    from dominozoo_training.evaluation import review_command as command

    with refusing(ValueError, OSError, ImportError):
        check_writable(json_file)
        check_writable(html, "html")
        wanted = command.prepare(games, players, hands, html is not None)
        command.check_numbers(deals, budget, objective)
        say_if_compiling(*command.kernels_of(wanted))
        with ended_by_hand(lambda: "nothing is kept"):
            played, shown = command.gather(wanted, seed)
            judged = command.judge_all(played, deals, budget, objective, seed)
        if html is not None and shown is not None:
            with writing("html", html):
                command.write_page(html, judged, shown)
        if json_file is not None:
            write_json(json_file, judged.as_json(every=shown is not None or hands is None))
    if json_file != "-":
        console = Console()
        command.show_review(judged, console if console.is_terminal else Console(width=120))


@app.command()
def train(
    game: Annotated[
        str | None, typer.Argument(help="A game; --resume and --config know theirs.")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="As ppo.clip=0.1.")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="YAML file of settings.")] = None,
    name: Annotated[str | None, typer.Option(help="The run's folder is runs/NAME.")] = None,
    out: Annotated[Path | None, typer.Option(help="The run's folder.")] = None,
    resume: Annotated[Path | None, typer.Option(help="A run's folder: go on there.")] = None,
    start: Annotated[
        str | None, typer.Option("--from", help="A policy whose weights to start from.")
    ] = None,
    force: Annotated[bool, typer.Option(help="Replace an earlier run in the folder.")] = False,
    device: Annotated[str | None, typer.Option(help="auto, cpu or cuda.")] = None,
    minutes: Annotated[float | None, typer.Option(help="Budget in minutes.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of weights, deals and moves.")] = None,
) -> None:
    """Train a policy by self-play. Ctrl-C saves and ends; --resume goes on."""
    import shlex
    import sys

    with needing("train"):
        from dominozoo_training.learning.config import ConfigError
        from dominozoo_training.learning.start import RUNS, is_setting, plan, run_folder
        from dominozoo_training.policy.folders import CheckpointError

    words = list(settings or [])
    if game is not None and is_setting(game):
        words.insert(0, game)
        game = None
    options = {"start": start, "device": device, "budget.minutes": minutes, "seed": seed}
    with refusing(ConfigError, CheckpointError, OSError), needing("train"):
        if name is not None and out is not None:
            raise ConfigError("give --name or --out, not both")
        if start == "":
            raise ConfigError("--from: names no policy; leave it out to start from nothing")
        folder = out if name is None else RUNS / run_folder(name)
        told, run = plan(game, words, config=config, out=folder, resume=resume, options=options)
        # These take long to load: what is wrong in the words above is told before.
        from dominozoo_training import compiling
        from dominozoo_training.learning.trainer import Stop, TrainingError
        from dominozoo_training.learning.trainer import train as run_training
    command, stop = shlex.join(["dominozoo", *sys.argv[1:]]), Stop()
    with refusing(ConfigError, CheckpointError, TrainingError, OSError):
        say_if_compiling(compiling.of_tables(told.rules))
        run_training(told, run, resume=resume is not None, force=force, command=command, stop=stop)
    if stop.by == "SIGINT":
        raise typer.Exit(CTRL_C)


@app.command()
def curves(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs.")],
    opponent: Annotated[str, typer.Option(help="Whom they were judged against.")] = "hard",
    x: Annotated[str, typer.Option("--x", help="decisions or minutes.")] = "decisions",
    out: Annotated[Path | None, typer.Option(help="A picture, NAME.png or NAME.svg.")] = None,
    json_file: Annotated[
        str | None, typer.Option("--json", help="Write the values here; - prints them alone.")
    ] = None,
) -> None:
    """Compare runs: strength over decisions or time, in a table and in one picture."""
    from rich.console import Console

    with needing("train"):
        from dominozoo_training.learning import curves as drawing

    with refusing(ValueError, OSError, ImportError):
        if json_file is not None:
            check_writable(json_file)
        if out is not None:
            check_writable(str(out), "out")
            drawing.check_picture(out)
        found = [drawing.load_curve(run, opponent, x) for run in runs]
        if out is not None:
            with writing("out", out):
                drawing.write_picture(out, found, opponent, x)
        if json_file is not None:
            told = [curve.as_json() for curve in found]
            write_json(json_file, {"opponent": opponent, "runs": told})
    if json_file != "-":
        console = Console()
        shown = drawing.table(found, opponent)
        (console if console.is_terminal else Console(width=120)).print(shown)


@app.command()
def exploit(
    policy: Annotated[
        str,
        typer.Argument(help="Whom to beat: a bot, a checkpoint or run folder, x.dombot, mod:f."),
    ],
    game: Annotated[str, typer.Argument(help="A game such as block or 'draw(players=3)'.")],
    settings: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="As for train.")
    ] = None,
    minutes: Annotated[float, typer.Option(help="How long to train.")] = 1.0,
    seed: Annotated[int, typer.Option(help="Of weights, deals and moves.")] = 0,
    deals: Annotated[
        int, typer.Option(help="Fresh deals of the judgement, each from every side.", min=2)
    ] = 20000,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Don't start from a checkpoint's own weights.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Keep the best response in this folder.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what the folder holds.")] = False,
    json_file: Annotated[
        str | None, typer.Option("--json", help="Write the result here; - prints it alone.")
    ] = None,
) -> None:
    """Train a player against a frozen one: how much it can be beaten by at the least."""
    import shlex
    import sys

    from dominozoo_training import compiling
    from dominozoo_training.bench import machine
    from dominozoo_training.evaluation.command import load
    from dominozoo_training.evaluation.setting import make_setting

    with needing("train"):
        from dominozoo_training.learning import exploit_command as exploiting
        from dominozoo_training.learning.start import plan

    with refusing(ValueError, OSError, ImportError, exploiting.TrainingError):
        config, _ = plan(game, exploiting.settings_of(minutes, seed, settings or []))
        (frozen,) = load([policy], make_setting(config.rules, deals, 0))
        if json_file is not None:
            check_writable(json_file)
        if out is not None:
            exploiting.check_folder(out, force=force)
        rules = config.rules
        say_if_compiling(compiling.of_bots(rules), compiling.of_search(rules, [frozen]))
        with ended_by_hand(lambda: "nothing is kept"), exploiting.bar() as report:
            result = exploiting.exploit(frozen, config, deals=deals, fresh=fresh, report=report)
        if out is not None:
            result.write(out)
        if json_file is not None:
            command = shlex.join(["dominozoo", *sys.argv[1:]])
            write_json(json_file, result.as_json(command=command, machine=machine()))
    if json_file != "-":
        typer.echo(exploiting.told(result))


@app.command()
def bench(
    games: Annotated[
        str | None, typer.Option(help="Games with commas; default: one of each kind.")
    ] = None,
    cases: Annotated[
        str | None,
        typer.Option(
            help="Cases with commas: kernel, c, step, step_float32, step_threads, raw_env, env, "
            "vector_env, bot, bot_numpy, stdio, http, bytes, import, start; default: all."
        ),
    ] = None,
    seconds: Annotated[
        float, typer.Option(help="Processor seconds a measurement, its preparation not counted.")
    ] = 0.5,
    peers: Annotated[
        bool, typer.Option("--peers", help="Play other packages' games in the same run, too.")
    ] = False,
    json_file: Annotated[
        str | None, typer.Option("--json", help="Write the figures here; - prints them alone.")
    ] = None,
) -> None:
    """Measure speed: compiled play, batched steps, environments, bots, start-up.

    Rates are per second of processor time of one thread, unless the unit says wall.
    """
    from rich.console import Console

    from dominozoo_training.bench import CASES, DEFAULT_GAMES, plan
    from dominozoo_training.bench.report import result, run_bench, show
    from dominozoo_training.evaluation.entrants import split_players

    with refusing(ValueError, OSError):
        chosen = tuple(split_players(games)) if games is not None else DEFAULT_GAMES
        wanted = split_players(cases) if cases is not None else tuple(CASES)
        jobs = plan(chosen, wanted, seconds)
        if json_file is not None:
            check_writable(json_file)
        measured = run_bench(jobs, seconds, peers, Console(stderr=True))
        if json_file is not None:
            write_json(json_file, result(measured))
    if json_file != "-":
        console = Console()
        show(measured, console if console.is_terminal else Console(width=120))


@app.command("export")
def export_bot(
    checkpoint: Annotated[str, typer.Argument(help="A checkpoint's or a run's folder.")],
    out: Annotated[Path, typer.Option(help="The file to write, NAME.dombot.")],
    bot_id: Annotated[
        str | None, typer.Option("--id", help="Default: the game and the weights' checksum.")
    ] = None,
    version: Annotated[str, typer.Option(help="The bot's version.")] = "1",
    fp16: Annotated[
        bool, typer.Option("--fp16", help="Keep the weights as 16-bit floats: a smaller file.")
    ] = False,
    deals: Annotated[
        int,
        typer.Option(help="Deals of each level against each scripted bot; 0: not measured.", min=0),
    ] = 0,
    force: Annotated[bool, typer.Option(help="Replace a file that is there.")] = False,
) -> None:
    """Write a policy as a bundle that other programs can play."""
    from dominozoo.bots.shipping import BUNDLE

    with refusing(ValueError, OSError, ImportError):
        if out.suffix != BUNDLE:
            raise ValueError(f"out: {out} must end in {BUNDLE}, by which a bot's file is known")
        if out.is_file() and not force:
            raise FileExistsError(f"out: {out} exists: name another file, or replace it by --force")
        with naming_extras("train,export"):
            from dominozoo_training.export.bundle import export_policy
            from dominozoo_training.export.strength import remark
            from dominozoo_training.policy.checkpoint import load_policy
        policy = load_policy(checkpoint)
        manifest = export_policy(
            policy, out, bot_id=bot_id, version=version, half=fp16, deals=deals, report=say
        )
    say(f"levels: {remark(manifest['levels'])}")
    typer.echo(f"{out}: {manifest['id']}, {out.stat().st_size} bytes")


@app.command()
def verify(
    file: Annotated[str, typer.Argument(help="A .dombot file, or a game for the bot that ships.")],
) -> None:
    """Check a bundle, run its vectors and play its golden games again in every reader at hand.

    Exit code 0: all is right. 1: a reader, or the engine, comes to something else. 2: it is no sound
    bundle.
    """
    from dominozoo.bots.bundle import read_bundle
    from dominozoo.bots.shipping import shipped_path

    with refusing(ValueError, OSError):
        from dominozoo_training import compiling
        from dominozoo_training.export.parity import check_bundle

        bundle = read_bundle(shipped_path(file) or file)
        say_if_compiling(compiling.of_game(bundle.rules))
        report = check_bundle(bundle)
    typer.echo(f"{bundle.manifest['id']}: {bundle.rules}, checksums are right")
    for line in report.lines():
        typer.echo(line)
    if "onnxruntime" not in report.vectors:
        typer.echo(f"policy.onnx was not run: {remedy('export')}")
    if report.failed:
        raise typer.Exit(1)


@app.command()
def info(
    file: Annotated[str, typer.Argument(help="A .dombot file, or a game for the bot that ships.")],
) -> None:
    """Show what a bundle says of itself."""
    from dominozoo.bots.bundle import read_bundle
    from dominozoo.bots.shipping import shipped_path

    with refusing(ValueError, OSError):
        bundle = read_bundle(shipped_path(file) or file)
    manifest = {**bundle.manifest, "observation": dict(bundle.manifest["observation"])}
    manifest["observation"].pop("fields")
    typer.echo(json.dumps(manifest, indent=1))


@app.command()
def serve(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE...", help="Bundles, or a game for the bot that ships."),
    ] = None,
    stdio: Annotated[bool, typer.Option("--stdio", help="Answer lines on standard input.")] = False,
    http: Annotated[
        int | None, typer.Option(metavar="PORT", help="Answer HTTP there.", min=0, max=65535)
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    cors: Annotated[
        list[str] | None, typer.Option(metavar="ORIGIN", help="Let this origin's pages ask.")
    ] = None,
    rate: Annotated[
        float, typer.Option(help="Requests a second from one address; 0 = any.", min=0)
    ] = 0,
    schema: Annotated[
        Path | None, typer.Option(help="Write the messages' JSON Schema into this folder.")
    ] = None,
) -> None:
    """Let other programs ask bots for moves, line by line or over HTTP."""
    with refusing(ValueError, OSError, ImportError):
        if sum((stdio, http is not None, schema is not None)) != 1:
            raise ValueError("serve: name one of --stdio, --http PORT and --schema FOLDER")
        if schema is None and not files:
            raise ValueError("FILE: name a bundle, or a game whose bot ships, such as block")
        with naming_extras("serve"):
            from dominozoo_training.export import serving
        if schema is not None:
            written = serving.write_schemas(schema)
            typer.echo(f"{schema}: {len(written)} files")
            return
        desk = serving.make_desk(files or [])
        if stdio:
            serving.stdio(desk)
        else:
            with naming_extras("serve"):
                serving.http(desk, host, http or 0, cors or [], rate)


@app.command()
def play(
    game: Annotated[str, typer.Argument(help="A game such as block or 'draw(players=3)'.")],
    against: Annotated[
        str, typer.Option(help="Bots, with commas: hard, x.dombot, a checkpoint folder.")
    ] = "hard",
    seed: Annotated[int | None, typer.Option(help="Deals the same tiles again.")] = None,
    hands: Annotated[int, typer.Option(help="Hands to play; 0 = a match.", min=0)] = 0,
) -> None:
    """Play against bots in the terminal; you are player_0."""
    from dominozoo.rules import parse
    from dominozoo.tables import fresh_seed
    from dominozoo_training import compiling
    from dominozoo_training.evaluation.entrants import split_players
    from dominozoo_training.play import Sitting, load_player

    with refusing(ValueError, OSError):
        rules = parse(game)
        players = [load_player(spec, rules) for spec in split_players(against)]
        seed = fresh_seed() if seed is None else seed
        sitting = Sitting(rules, players, seed, hands, input, typer.echo)
    typer.echo(f"{rules}, seed {seed}")
    search = compiling.of_search(rules, [player.entrant for player in players])
    say_if_compiling(compiling.of_game(rules), search)
    sitting.play()


@app.command()
def watch(
    game: Annotated[str, typer.Argument(help="A game such as block or 'draw(players=3)'.")],
    players: Annotated[
        str, typer.Option(help="One a seat, with commas; fewer are repeated.")
    ] = "hard",
    seed: Annotated[int | None, typer.Option(help="Plays the same game again.")] = None,
    hands: Annotated[int, typer.Option(help="Hands to play; 0 = a match.", min=0)] = 1,
    delay: Annotated[float, typer.Option(help="Seconds a move.", min=0, max=60)] = 0.5,
    svg: Annotated[Path | None, typer.Option(help="A folder for a picture a move.")] = None,
    gif: Annotated[Path | None, typer.Option(help="A file NAME.gif for an animation.")] = None,
) -> None:
    """Watch bots play in the terminal; --svg and --gif keep pictures."""
    import time

    from dominozoo.rules import parse
    from dominozoo.tables import fresh_seed
    from dominozoo_training import compiling
    from dominozoo_training.evaluation.entrants import load_entrant, split_players
    from dominozoo_training.watch import Show, check_outputs, text_of
    from dominozoo_training.watch import watch as run_show

    def say(frame: dict[str, Any]) -> None:
        typer.echo(text_of(frame) + "\n")
        time.sleep(delay)

    with refusing(ValueError, OSError, ImportError):
        rules = parse(game)
        entrants = [load_entrant(spec, rules) for spec in split_players(players)]
        seed = fresh_seed() if seed is None else seed
        show = Show(rules, entrants, seed, hands)
        check_outputs(svg, gif)
        typer.echo(f"{rules}, seed {seed}: {', '.join(show.names)}\n")
        say_if_compiling(compiling.of_game(rules), compiling.of_search(rules, entrants))
        count = run_show(show, say, svg, gif, delay)
    for what in filter(None, (svg, gif)):
        typer.echo(f"{what}: {count} pictures")


@contextmanager
def naming_extras(extras: str) -> Iterator[None]:
    """Say which extras bring a module that is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ImportError(f"{error.name} is missing: {remedy(extras)}") from None


def main() -> None:
    """Run the command line."""
    app()


if __name__ == "__main__":
    main()
