/** The commands that run a version: eval, solve, score, generate. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { EXTRACTIONS, parseExtractions } from '../../core/checkers/extract.ts';
import { wrongInput } from '../../core/errors.ts';
import {
  ENGINES,
  type Engine,
  kernelEngineOf,
  type PolicyRef,
  SMALLER_WEIGHTS,
  type SmallerWeights,
} from '../../core/policy/policy.ts';
import { RENDERER_KINDS } from '../../core/renderer/renderer-kinds.ts';
import { parsedValue } from '../../core/runs/set-path.ts';
import type { Share } from '../../protocols/evaluate/figures.ts';
import { WAYS, type WayName } from '../../protocols/solve/ways.ts';
import { STEP_TOKENS } from '../../protocols/trees/ground.ts';
import { answerToolOption, turnsOption } from '../environment/options.ts';
import { engineOption, port, whole } from '../shared/run-options.ts';
import { setOfVersion } from '../shared/version-name.ts';
import {
  type Common,
  numbersOption,
  print,
  printJson,
  temperature,
  tokenIds,
  versionCommand,
  waysOption,
  withStore,
} from './command-line.ts';
import type { EpisodesRequest } from './eval-episodes.ts';
import type { EvalRequest, Evaluated } from './evaluate.ts';
import { checkName } from './policy-name.ts';
import { recipeEvaluationLines, recipeIn, recipeSolvedLines } from './recipe-commands.ts';
import type { GenerateRequest } from './run-tokens.ts';
import type { SolveRequest } from './solve.ts';
import { heading, SAMPLES, SCORES, sampleRows, scoreRow } from './tables.ts';
import { addTaskFileOptions } from './task-file-options.ts';

/** For options that may be repeated: each use adds a value. */
const several = (value: string, before: readonly string[]): string[] => [...before, value];

interface Form {
  readonly weights?: SmallerWeights;
  readonly engine?: Engine;
}

const weightsOption = () =>
  new Option('--weights <form>', 'compute with smaller weights, as a run with this option samples').choices(
    SMALLER_WEIGHTS,
  );

function refOf(name: string, version: number, { weights, engine: asked }: Form): PolicyRef {
  checkName(name);
  const engine = kernelEngineOf(asked);
  return { name, version, ...(weights ? { weights } : {}), ...(engine ? { engine } : {}) };
}

/** Adds "name=value" to the switches given before; the value is JSON where it can be read as such, else text. */
function templateSwitch(text: string, before: Readonly<Record<string, unknown>> = {}) {
  const [, name, value] = /^(\w+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new InvalidArgumentError('Expected NAME=VALUE, as in enable_thinking=true.');
  return { ...before, [name]: parsedValue(value) };
}

/** Which questions are asked, and how they become tokens and answers. */
const askingCommand = (parent: Command, name: string, description: string): Command =>
  addTaskFileOptions(
    versionCommand(parent, name, description)
      .option(
        '--tasks <file>',
        'JSONL, CSV or Parquet with question (or messages) and answer; repeat for several',
        several,
        [],
      )
      .option('--limit <n>', 'ask the first n only', whole(1)),
  )
    .option(
      '--extract <where>',
      `where the answer stands in the text, tried in order (${EXTRACTIONS.join(', ')})`,
      parseExtractions,
    )
    .addOption(
      new Option('--renderer <kind>', 'how questions become tokens').choices(RENDERER_KINDS).default('auto'),
    )
    .option(
      '--template <name=value>',
      'a switch of the chat template, as in enable_thinking=true (repeat)',
      templateSwitch,
    )
    .option('--max-new <n>', 'longest answer in tokens', whole(1))
    .option('--seed <n>', 'seed of every draw', whole(0), 0)
    .addOption(weightsOption())
    .addOption(engineOption());

export function addEval(parent: Command): void {
  askingCommand(parent, 'eval', 'answers to questions, compared with the reference answers')
    .option('--samples <n>', 'sampled answers to each question, for pass@k and majority@k', whole(0), 0)
    .option('--temperature <t>', 'of the sampled answers', temperature, 1)
    .option('--compare <version>', 'compare with another version, question by question', whole(0))
    .option(
      '--reward-model <name@version>',
      'a version with a class head that chooses among the samples: best-of-k by it, beside majority and chance',
      setOfVersion,
    )
    .option('--write <file>', 'write every question with its answers to a file, one JSON object per line')
    .option(
      '--recipe <recipe>',
      'evaluate as the runs of this recipe are, on its held-out tasks or games, in place of --tasks',
    )
    .option('--world <module>', 'with --recipe: a world or game of your own')
    .option(
      '--agent',
      'programs of your own hold --samples episodes of each task, at least 2, by way of an OpenAI endpoint, and post what each is worth (docs/agents.md)',
      false,
    )
    .option(
      '--environment <url>',
      'a Worker of a local mesh holds the episodes in an environment that somebody else hosts (docs/environments.md)',
    )
    .addOption(turnsOption('--environment-turns <n>'))
    .addOption(answerToolOption())
    .option('--success <reward>', 'with either: the reward from which on an episode succeeded', Number, 0.5)
    .option('--port <n>', 'with either: port of the mesh', port, 8787)
    .action(
      async (name: string, version: number, options: Common & EvalRequest & ByRecipe & InEpisodes & Form) => {
        const ref = refOf(name, version, options);
        refuseLoneWorld(options);
        if (options.agent || options.environment !== undefined) {
          expectEpisodes(options);
          const { episodeLines, evaluateEpisodes } = await import('./eval-episodes.ts');
          const request = { ...options, samples: Math.max(2, options.samples) };
          const evaluated = await evaluateEpisodes(ref, request, (words) => console.error(`  ${words}`));
          if (options.json) printJson({ kind: 'eval', policy: name, version, ...evaluated });
          else for (const text of episodeLines(name, version, evaluated)) print(text);
          return;
        }
        if (options.recipe !== undefined) {
          if (options.tasks.length)
            throw wrongInput('eval.tasks', 'Both --tasks and --recipe say what is asked.', {
              expected: 'one of them',
            });
          const recipe = await recipeIn(options.recipe, options.world);
          const { evaluateByRecipe } = await import('./by-recipe.ts');
          const evaluated = await withStore(options, (gateway) =>
            evaluateByRecipe(gateway, recipe, ref, options.compare),
          );
          if (options.json)
            printJson({ kind: 'eval', recipe: recipe.name, policy: name, version, ...evaluated });
          else for (const text of recipeEvaluationLines(recipe.name, name, version, evaluated)) print(text);
          return;
        }
        const { evaluateTasks } = await import('./evaluate.ts');
        const { evaluationLines } = await import('./format-evaluation.ts');
        const figures = await withStore(options, (gateway) => evaluateTasks(gateway, ref, options));
        if (options.json) printJson(evaluationRecord(name, version, figures));
        else for (const text of evaluationLines(name, version, figures)) print(text);
      },
    );
}

interface InEpisodes extends Pick<EpisodesRequest, 'environment' | 'environmentTurns' | 'answerTool'> {
  readonly agent: boolean;
  readonly success: number;
  readonly port: number;
}

/** Throws `eval.episodes` where what is asked beside episodes means nothing there, or is missing. */
function expectEpisodes(options: EvalRequest & ByRecipe & InEpisodes & Form): void {
  const { recipe, compare, rewardModel, write, weights, template, tasks, success, temperature } = options;
  const others = { recipe, compare, 'reward-model': rewardModel, write, weights, template };
  const other = Object.entries(others).find(([, given]) => given !== undefined);
  const refuse = (what: string, expected: string) => wrongInput('eval.episodes', what, { expected });
  if (other) throw refuse(`Agents hold the episodes, and --${other[0]} is given.`, `no --${other[0]}`);
  if (!tasks.length) throw refuse('No file of tasks is named.', '--tasks FILE');
  if (!Number.isFinite(success)) throw refuse('--success is no number.', 'a reward, such as 0.5');
  if (temperature === 0)
    throw refuse('Episodes are sampled, and --temperature is 0.', 'a temperature above 0');
}

interface ByRecipe {
  readonly recipe?: string;
  readonly world?: string;
}

export function addSolve(parent: Command): void {
  askingCommand(
    parent,
    'solve',
    'what search buys on questions, at equal tokens: sampling and choosing, power sampling, beams, trees',
  )
    .option('--tokens <n>', 'tokens that a question may take (default: eight answers of --max-new)', whole(1))
    .option('--temperatures <list>', 'temperatures to sample at', numbersOption, [0.3, 0.6, 1])
    .option('--powers <list>', 'powers α of power sampling, which draws answers from p^α', numbersOption, [4])
    .option(
      '--reward-model <name@version>',
      'a version with a class head, or NAME@N/SET, that chooses among samples, beams and branches',
      setOfVersion,
    )
    .option(
      '--search <ways>',
      `the ways to search, with commas between them (default: all that can be): ${WAYS.join(', ')}`,
      waysOption,
    )
    .option(
      '--piece <n>',
      'tokens at most by which beams and trees grow; a line ends sooner',
      whole(1),
      STEP_TOKENS,
    )
    .option(
      '--recipe <recipe>',
      'in place of --tasks: the held-out tasks of this recipe, as its runs are evaluated, with greedy answers drawn in other ways',
    )
    .option('--world <module>', 'with --recipe: a world or game of your own')
    .action(
      async (
        name: string,
        version: number,
        {
          powers: alphas,
          ...options
        }: Common & Omit<SolveRequest, 'alphas'> & ByRecipe & Form & { powers: number[] },
      ) => {
        const ref = refOf(name, version, options);
        refuseLoneWorld(options);
        if (options.recipe !== undefined) {
          const ways = waysOfRecipe(options);
          const recipe = await recipeIn(options.recipe, options.world);
          const { solveHeldOut } = await import('./by-recipe.ts');
          const { tokens, limit, temperatures, seed } = options;
          const begin = (way: string) => options.json || console.error(`  ${way} …`);
          const solved = await withStore(options, (gateway) =>
            solveHeldOut(gateway, recipe, ref, {
              ...(tokens === undefined ? {} : { tokens }),
              ...{ limit, temperatures, alphas, ways, seed, begin },
            }),
          );
          if (options.json)
            printJson({ kind: 'solve', recipe: recipe.name, policy: name, version, ways: solved });
          else for (const text of recipeSolvedLines(recipe.name, name, version, solved)) print(text);
          return;
        }
        if (!options.tasks.length)
          throw wrongInput('solve.tasks', 'Nothing says what is asked.', {
            expected: '--tasks FILE, or --recipe RECIPE for its held-out tasks',
          });
        const { solvedLines, solveFile } = await import('./solve.ts');
        const solved = await withStore(options, (gateway) =>
          solveFile(
            gateway,
            ref,
            { ...options, alphas },
            (way) => options.json || console.error(`  ${way} …`),
          ),
        );
        if (options.json) printJson({ kind: 'solve', policy: name, version, ...solved });
        else for (const text of solvedLines(name, version, solved)) print(text);
      },
    );
}

/** A world is that of a recipe. Throws `recipe.missing` for one without a recipe. */
function refuseLoneWorld({ recipe, world }: ByRecipe): void {
  if (world === undefined || recipe !== undefined) return;
  throw wrongInput('recipe.missing', `--world ${world} is given without --recipe.`, {
    expected: 'the recipe whose runs play in that world',
    next: 'Add --recipe RECIPE, or leave --world out.',
  });
}

/** The ways that need no scorer, or those of them that are asked for. Throws `solve.recipe` for what means nothing beside --recipe. */
function waysOfRecipe({
  tasks,
  rewardModel,
  search = ['samples', 'power'],
}: Pick<SolveRequest, 'tasks' | 'rewardModel' | 'search'>): readonly WayName[] {
  const refuse = (what: string, expected: string) => wrongInput('solve.recipe', what, { expected });
  if (tasks.length) throw refuse('Both --tasks and --recipe say what is asked.', 'one of them');
  if (rewardModel) throw refuse('--reward-model is given with --recipe.', 'no reward model, or --tasks FILE');
  const scored = search.find((way) => way === 'beams' || way === 'tree');
  if (scored) throw refuse(`--search ${scored} is given with --recipe.`, 'samples, power or both');
  return search;
}

const sharesOf = (at: Readonly<Record<number, Share>> = {}) =>
  Object.fromEntries(Object.entries(at).map(([k, { share }]) => [k, share]));

/** The line of `--json`: the figures that most readers want by their plain names, and all of them as they were measured. */
const evaluationRecord = (policy: string, version: number, figures: Evaluated) => ({
  kind: 'eval',
  policy,
  version,
  accuracy: figures.greedy.accuracy.share,
  interval: [figures.greedy.accuracy.low, figures.greedy.accuracy.high],
  passAt: sharesOf(figures.sampled?.passAt),
  majorityAt: sharesOf(figures.sampled?.majorityAt),
  ...figures,
});

interface ScoreOptions extends Pick<Form, 'weights'> {
  readonly ids: string;
  readonly engine: Engine | 'learner';
}

export function addScore(parent: Command): void {
  versionCommand(parent, 'score', 'log-probabilities and entropies (nats) of given token ids')
    .requiredOption('--ids <file>', 'a JSON array of token ids per line')
    .addOption(
      new Option('--engine <name>', 'who computes: an engine of generation, or the learner')
        .choices([...ENGINES, 'learner'])
        .default('onnx'),
    )
    .addOption(weightsOption())
    .action(async (name: string, version: number, options: Common & ScoreOptions) => {
      const { ids, weights, engine } = options;
      const learner = engine === 'learner';
      if (learner && weights)
        throw wrongInput('score.weights', `The learner computes in float32, not with ${weights} weights.`, {
          next: 'Leave --weights or --engine learner out.',
        });
      const generation = engine === 'learner' ? {} : { ...options, engine };
      const ref = refOf(name, version, generation);
      const { scoreLines } = await import('./run-tokens.ts');
      await withStore(options, async (gateway) => {
        let line = 0;
        for await (const scores of scoreLines(gateway, ref, { ids, learner })) {
          if (++line === 1 && !options.json) print(heading(SCORES));
          if (options.json) printJson(scores);
          else print(scoreRow(line, scores));
        }
      });
    });
}

export function addGenerate(parent: Command): void {
  versionCommand(parent, 'generate', 'samples that go on from a text or from token ids')
    .option(
      '--prompt <text>',
      'a text to go on from, up to the policy’s end token (repeat for several)',
      several,
      [],
    )
    .option('--ids <file>', 'a JSON array of token ids per line')
    .requiredOption('--max-new <n>', 'new tokens at most, stop token included', whole(1))
    .option('--samples <n>', 'samples per line', whole(1), 1)
    .option('--temperature <t>', '0 = greedy', temperature, 1)
    .option('--seed <n>', 'seed of every draw', whole(0), 0)
    .option('--stop <ids>', 'token ids that end a sample, separated by commas (default: none)', tokenIds, [])
    .addOption(weightsOption())
    .addOption(engineOption())
    .action(async (name: string, version: number, options: Common & GenerateRequest & Form) => {
      const ref = refOf(name, version, options);
      const { generateLines } = await import('./run-tokens.ts');
      await withStore(options, async (gateway) => {
        let line = 0;
        for await (const samples of generateLines(gateway, ref, options)) {
          if (++line === 1 && !options.json) print(heading(SAMPLES));
          if (options.json) printJson({ samples });
          else for (const text of sampleRows(line, samples)) print(text);
        }
      });
    });
}
