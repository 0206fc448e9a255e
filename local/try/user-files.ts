/** What the user's own files on the page /try come to: a checkpoint, and questions as a recipe. They are read in the tab's thread and go nowhere else. */
import { findChecker } from '../../core/checkers/registry.ts';
import { wrongInput } from '../../core/errors.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import { checkCheckpoint } from '../../model/checkpoint.ts';
import { parseConfig } from '../../model/config.ts';
import { readSafetensors } from '../../model/safetensors.ts';
import { expectDataOf, fromFiles } from '../../recipes/from-files.ts';
import { readTasks } from '../../worlds/file/read-tasks.ts';
import { reportLines, taskSet } from '../../worlds/file/task-set.ts';
import type { UserFiles } from './told.ts';

/** The share of the questions that is held out for the curve. */
const HELD_OUT = 0.2;
/** Longest answer, tokens, and the most held-out questions that an evaluation asks: a tab computes on few threads. */
const SETTINGS = { maxNew: 64, examined: 40 };

/** The files that a checkpoint may have here. */
const TEXTS = ['config.json', 'tokenizer.json', 'tokenizer_config.json'] as const;

function parsedJson(name: string, bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw wrongInput('try.file', `The file ${name} is not JSON.`, {
      expected: `the ${name} of a checkpoint`,
      cause,
    });
  }
}

/**
 * The version 0 that the chosen files are. A file of weights alone, such as one that this page saved, takes configuration and tokenizer of `start`.
 * Throws `wrong-input` where they are no checkpoint or do not fit one another.
 */
export function checkpointOf(chosen: UserFiles, start: VersionFiles): VersionFiles {
  const weights = Object.keys(chosen).filter((name) => name.endsWith('.safetensors'));
  const unknown = Object.keys(chosen).filter(
    (name) => !(weights.includes(name) || TEXTS.some((text) => text === name)),
  );
  if (weights.length !== 1 || unknown.length)
    throw wrongInput('try.file', `The files ${Object.keys(chosen).join(', ')} are no checkpoint.`, {
      expected:
        'one file of weights, NAME.safetensors, alone or with its config.json, tokenizer.json and tokenizer_config.json',
    });
  const [name] = weights as [string];
  const bytes = chosen[name]!;
  const own: VersionFiles = Object.fromEntries(
    TEXTS.flatMap((text) => (chosen[text] ? [[text, chosen[text]]] : [])),
  );
  const files: VersionFiles = { ...(Object.keys(own).length ? own : start), 'model.safetensors': bytes };
  if (!files['config.json'] || !files['tokenizer.json'])
    throw wrongInput(
      'try.file',
      `Beside ${name} there is no ${files['config.json'] ? 'tokenizer' : 'config'}.json.`,
      {
        expected: 'config.json and tokenizer.json, chosen together with the weights',
      },
    );
  for (const text of TEXTS) if (files[text]) parsedJson(text, files[text]);
  try {
    checkCheckpoint(parseConfig(parsedJson('config.json', files['config.json'])), readSafetensors(bytes));
  } catch (cause) {
    throw wrongInput(
      'try.file',
      `The file ${name} is no checkpoint: ${cause instanceof Error ? cause.message : cause}`,
      {
        next: Object.keys(own).length
          ? ''
          : 'Where it is of another model, choose its config.json and tokenizer.json, too.',
        cause,
      },
    );
  }
  return files;
}

/** A recipe over the questions of a file, of which a fifth is held out, and what is to be said of the file. */
export async function recipeOnQuestions(
  recipe: string,
  { name, bytes }: { readonly name: string; readonly bytes: Uint8Array },
  start: string,
): Promise<{ readonly recipe: Recipe; readonly notes: readonly string[] }> {
  const tasks = await readTasks(name, bytes, { checker: findChecker('auto') });
  const from = fromFiles({ name: recipe });
  expectDataOf(recipe, from, tasks);
  const { sources, heldOut, report } = taskSet([{ tasks, weight: 1 }], { share: HELD_OUT });
  const data = {
    name,
    start,
    checker: 'auto',
    extract: ['boxed', 'answer', 'whole'],
    sources,
    heldOut,
    settings: SETTINGS,
  };
  return {
    recipe: from.make(data),
    notes: [
      `${sources.flatMap((source) => source.tasks).length} questions are trained on, ${heldOut.length} are held out.`,
      ...reportLines(report),
    ],
  };
}
