/** The texts of prompts that a user puts in the place of a recipe's own: which there are, and which a file of them must have. */
import { wrongInput } from '../../core/errors.ts';
import { saidBy, type Verb } from '../../core/game/verbs.ts';
import { PROMPTS, placesOf, type Sentences } from './prompts.ts';

/** Texts by verb, and the sentences that a verb chooses from as `verb.name`. */
export type Texts = Readonly<Partial<Record<Verb | `${Verb}.${string}`, string>>>;

/** What of the needs says which texts there are. */
type Saying = Parameters<typeof saidBy>[0];

/** The sentences of a verb as `verb.name`. */
const sentencesIn = (verb: Verb): [string, string][] =>
  Object.entries(PROMPTS[verb].sentences ?? {}).map(([name, sentence]) => [`${verb}.${name}`, sentence]);

/** The texts that a recipe says on questions, unless a user gives others. */
export const textsOf = (needs: Saying): Readonly<Record<string, string>> =>
  Object.fromEntries(saidBy(needs).flatMap((verb) => [[verb, PROMPTS[verb].text], ...sentencesIn(verb)]));

/** The sentences that a verb chooses from, by their names: a user's where the texts have one. */
export const sentencesOf = (verb: Verb, texts: Texts = {}): Sentences =>
  Object.fromEntries(
    Object.entries(PROMPTS[verb].sentences ?? {}).map(([name, sentence]) => [
      name,
      texts[`${verb}.${name}`] ?? sentence,
    ]),
  );

const wrong = (what: string, expected: string) =>
  wrongInput('prompts.texts', what, {
    expected,
    next: 'Run `npx rollmesh recipe show NAME --prompts` for a file to begin with.',
  });

/** A text, or its lines. */
function textOf(verb: string, given: unknown): string {
  const lines = Array.isArray(given) ? given : [given];
  if (lines.every((line) => typeof line === 'string') && lines.join('').trim() !== '')
    return lines.join('\n');
  throw wrong(
    `The prompt "${verb}" is ${JSON.stringify(given).slice(0, 60)}.`,
    'a text, or a list of its lines',
  );
}

/** Each place that a text must have and may have. */
function expectPlaces(verb: Verb, text: string): void {
  const wanted = placesOf(PROMPTS[verb].text);
  const found = placesOf(text);
  const listed = wanted.map((place) => `{{${place}}}`).join(', ');
  const missing = wanted.find((place) => !found.includes(place));
  if (missing !== undefined)
    throw wrong(`The prompt "${verb}" has no {{${missing}}}.`, `a text with ${listed}`);
  const unknown = found.find((place) => !wanted.includes(place));
  if (unknown !== undefined)
    throw wrong(
      `The prompt "${verb}" has a place {{${unknown}}} that nothing fills.`,
      `no other place than ${listed}`,
    );
}

/**
 * The texts of a file for a recipe: one for each verb that it says. A sentence that the file leaves out stays as it is. Throws `prompts.texts` for the
 * first text that is missing, unknown or without a place.
 */
export function readTexts(given: unknown, needs: Saying): Texts {
  const verbs = saidBy(needs);
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw wrong('The prompts are no object.', `an object with the fields ${verbs.join(', ')}`);
  const fields = given as Readonly<Record<string, unknown>>;
  const sentences = verbs.flatMap((verb) => sentencesIn(verb).map(([name]) => name));
  const all = [...verbs, ...sentences];
  const unknown = Object.keys(fields).find((name) => !all.some((one) => one === name));
  if (unknown !== undefined)
    throw wrong(`There is no prompt "${unknown}" in this recipe.`, `the prompts ${all.join(', ')}`);
  const texts = verbs.map((verb) => {
    if (!Object.hasOwn(fields, verb))
      throw wrong(`The prompt "${verb}" is missing.`, `the prompts ${verbs.join(', ')}`);
    const text = textOf(verb, fields[verb]);
    expectPlaces(verb, text);
    return [verb, text];
  });
  const said = sentences
    .filter((name) => Object.hasOwn(fields, name))
    .map((name) => {
      const text = textOf(name, fields[name]);
      if (placesOf(text).length)
        throw wrong(`The sentence "${name}" has a place that nothing fills.`, 'a text without places');
      return [name, text];
    });
  return Object.fromEntries([...texts, ...said]);
}
