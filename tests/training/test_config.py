import re
from pathlib import Path

import pytest
import yaml

from dominozoo_training.learning.config import Config, ConfigError, load_config, to_yaml
from dominozoo_training.learning.start import config_files, plan

CONFIGS = Path(__file__).resolve().parents[2] / "configs"


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("sede=1", "unknown key 'sede' (did you mean 'seed'?)"),
        ("ppo.learing_rate=0.1", "'ppo.learing_rate' (did you mean 'ppo.learning_rate'?)"),
        ("learning_rate=0.1", "did you mean 'ppo.learning_rate'?"),
        ("seed=x", "seed takes a valid integer, not 'x'"),
        ("seed=true", "seed takes a valid integer, not True"),
        ("ppo.epochs=1.5", "ppo.epochs takes a valid integer, not 1.5"),
        ("ppo.clip=-1", "ppo.clip takes greater than 0, not -1"),
        ("budget.minutes=.inf", "budget.minutes takes a finite number"),
        ("budget.minutes=null", "else training never ends"),
        ("network.hidden=[64, a]", "network.hidden takes a valid integer, not 'a'"),
        ("rollout=3", "rollout takes a valid dictionary"),
        ("rollout.goal=win_all", "rollout.goal takes 'points', 'win' or 'match'"),
        ("rollout.tables=100", "rollout.tables=100 must be a multiple of ppo.minibatch=2048"),
        ("evaluation.opponents=[strong]", "evaluation.opponents takes 'random', 'easy'"),
        ("game=blok", "did you mean 'block'?"),
        ("game=block(players=5)", "players=5 is not taken"),
        ("seed", "is no setting; write it like"),
        ("seed=[", "is no YAML value"),
    ],
)
def test_a_wrong_setting_is_refused_in_one_line(override: str, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)) as caught:
        load_config("block" if not override.startswith("game") else None, overrides=[override])
    assert "\n" not in str(caught.value)


def test_later_files_and_overrides_win(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("seed: 1\nppo: {clip: 0.3, epochs: 2}\n")
    (tmp_path / "b.yaml").write_text("ppo: {epochs: 3}\n")
    config = load_config(
        "draw(players=3)", [tmp_path / "a.yaml", tmp_path / "b.yaml"], ["seed=7", "ppo.clip=1e-1"]
    )
    assert (config.seed, config.ppo.clip, config.ppo.epochs) == (7, 0.1, 3)
    assert config.game == "draw(players=3)"


def test_numbers_with_exponents_are_numbers() -> None:
    config = load_config(overrides=["budget.decisions=2e6", "ppo.learning_rate=1e-3"])
    assert (config.budget.decisions, config.ppo.learning_rate) == (2_000_000, 0.001)


def test_a_game_is_kept_in_its_short_form() -> None:
    assert load_config("block_v0( players=2 )").game == "block"


@pytest.mark.parametrize("text", ["- 1\n", "a: [\n", "1: 2\n"])
def test_a_file_that_is_no_mapping_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(text)
    with pytest.raises(ConfigError, match=r"x\.yaml"):
        load_config("block", [tmp_path / "x.yaml"])


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.yaml: No such file"):
        load_config("block", [tmp_path / "none.yaml"])


def test_the_default_file_says_what_the_program_does() -> None:
    assert load_config(files=[CONFIGS / "default.yaml"]) == Config()
    written = yaml.safe_load((CONFIGS / "default.yaml").read_text())
    assert written == yaml.safe_load(to_yaml(Config())), "default.yaml lists every key"


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_shipped_file_is_valid(path: Path) -> None:
    load_config(files=[CONFIGS / "default.yaml", path])


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_game_with_options_takes_its_own_file_or_else_the_games(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(CONFIGS.parent)
    game = load_config(files=[path]).game
    if path.stem not in ("default", "demo"):
        assert config_files(game, None) == [
            Path("configs/default.yaml"),
            Path("configs", path.name),
        ]
    assert config_files("block(target=50)", None)[1] == Path("configs/block.yaml")
    assert config_files(None, None) == [Path("configs/default.yaml")]


def test_a_run_gets_a_folder_of_its_own(tmp_path: Path) -> None:
    config, run = plan("draw(players=3)", ["seed=4"], options={"budget.minutes": 2.5})
    assert run == Path("runs/draw-players=3-seed=4")
    assert config.budget.minutes == 2.5
    assert plan("block", [], out=tmp_path)[1] == tmp_path


def test_resume_takes_no_second_folder(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="leave out --out"):
        plan(None, [], out=tmp_path, resume=tmp_path)
