/** The commands that compute with a version: eval, score, generate. */
import { type Command, Option } from 'commander';
import { wrongInput } from '../../core/errors.ts';
import {
  ENGINES,
  type Engine,
  kernelEngineOf,
  type PolicyRef,
  SMALLER_WEIGHTS,
  type SmallerWeights,
} from '../../core/policy.ts';
import { percent } from '../figures.ts';
import { engineOption, whole } from '../run-options.ts';
import {
  type Common,
  print,
  printJson,
  temperature,
  tokenIds,
  versionCommand,
  withStore,
} from './command-line.ts';
import { type EvalRequest, type Evaluated, evaluateTasks } from './evaluate.ts';
import { checkName } from './import-checkpoint.ts';
import { type GenerateRequest, generateLines, scoreLines } from './run-tokens.ts';
import { heading, SAMPLES, SCORES, sampleRows, scoreRow } from './tables.ts';

function inWords({ n, accuracy, answered, worked, tooLong }: Evaluated): string {
  const shares = [
    `accuracy ${percent(accuracy, 1)}`,
    `answered ${percent(answered, 1)}`,
    `worked ${percent(worked, 1)}`,
  ].join(', ');
  return `n ${n}, ${shares}${tooLong ? `; ${tooLong} too long for the model, not asked` : ''}`;
}

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

export function addEval(parent: Command): void {
  versionCommand(parent, 'eval', 'greedy answers to questions, compared with the reference answers')
    .requiredOption('--tasks <file>', 'a JSON object a line: {"question": …, "answer": …} or {"task": …}')
    .option('--limit <n>', 'ask the first n only', whole(1))
    .addOption(weightsOption())
    .addOption(engineOption())
    .action(async (name: string, version: number, options: Common & EvalRequest & Form) => {
      const ref = refOf(name, version, options);
      const figures = await withStore(options, (gateway) => evaluateTasks(gateway, ref, options));
      if (options.json) printJson({ policy: name, version, ...figures });
      else print(`${name} ${version}: ${inWords(figures)}`);
    });
}

interface ScoreOptions extends Pick<Form, 'weights'> {
  readonly ids: string;
  readonly engine: Engine | 'learner';
}

export function addScore(parent: Command): void {
  versionCommand(parent, 'score', 'log-probabilities and entropies (nats) of given token ids')
    .requiredOption('--ids <file>', 'a JSON array of token ids a line')
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
      const ref = refOf(name, version, learner ? {} : { ...options, engine });
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
  versionCommand(parent, 'generate', 'samples that go on from given token ids')
    .requiredOption('--ids <file>', 'a JSON array of token ids a line')
    .requiredOption('--max-new <n>', 'new tokens at most, stop token included', whole(1))
    .option('--samples <n>', 'samples a line', whole(1), 1)
    .option('--temperature <t>', '0 = greedy', temperature, 1)
    .option('--seed <n>', 'seed of every draw', whole(0), 0)
    .option('--stop <ids>', 'token ids that end a sample, separated by commas (default: none)', tokenIds, [])
    .addOption(weightsOption())
    .addOption(engineOption())
    .action(async (name: string, version: number, options: Common & GenerateRequest & Form) => {
      const ref = refOf(name, version, options);
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
