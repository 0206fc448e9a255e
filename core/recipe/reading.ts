/**
 * Completions as a person reads them: a text cut into parts, each with what it is. The page and the downloads show these parts; no
 * verdict and no reward depends on them. A recipe whose grammar says more than the tags brings a reader of its own (`describe.parts`).
 */
import * as v from 'valibot';

/**
 * What a part of a text is. `step` and `answer`: of a solution. `mark`: a verdict on one step. `verdict`: one on the whole.
 * `grid`: a board, one row per line. `note`: said by the mesh and not by a model.
 */
export const PART_KINDS = ['text', 'step', 'answer', 'mark', 'verdict', 'grid', 'note'] as const;
export type PartKind = (typeof PART_KINDS)[number];

export const part = v.object({
  kind: v.picklist(PART_KINDS),
  text: v.string(),
  /** For a mark or a verdict: does it approve? Absent where it says neither. */
  good: v.exactOptional(v.boolean()),
});
export type Part = Readonly<v.InferOutput<typeof part>>;

/** Tags that open a part, and tags that are a whole part by themselves. */
const OPENING: Readonly<Record<string, PartKind>> = { step: 'step', answer: 'answer' };
const WHOLE: Readonly<Record<string, Part>> = {
  ok: { kind: 'mark', text: 'ok', good: true },
  bad: { kind: 'mark', text: 'bad', good: false },
  right: { kind: 'verdict', text: 'right', good: true },
  wrong: { kind: 'verdict', text: 'wrong', good: false },
};
/** Tags that only begin, separate or end: they have no meaning to a reader. */
const SILENT = new Set(['eos', 'sep', 'solve', 'propose', 'judge']);

/** `<step>`, or a chat template's `<|im_end|>`. Any other text in angle brackets is shown as it was written. */
const TAG = /<(\|?)([a-z_]+)\|?>/g;

/** Reads the tags of the shipped tokenizers, and drops the markers of chat templates. Text without tags is one part. */
export function readTags(text: string): Part[] {
  const parts: Part[] = [];
  let kind: PartKind = 'text';
  let from = 0;
  const close = (to: number) => {
    const inside = text.slice(from, to);
    if (kind !== 'text' || inside.trim() !== '') parts.push({ kind, text: inside });
  };
  for (const match of text.matchAll(TAG)) {
    const [tag, pipe, name = ''] = match;
    const whole = pipe ? undefined : WHOLE[name];
    const opening = pipe ? undefined : OPENING[name];
    if (!(pipe || whole || opening || SILENT.has(name))) continue;
    close(match.index);
    if (whole) parts.push(whole);
    kind = opening ?? 'text';
    from = match.index + tag.length;
  }
  close(text.length);
  return parts;
}

/** Reads the tags, then gives each part to `refine`, which may say more about it. */
export const readTagsWith = (text: string, refine: (part: Part) => readonly Part[]): Part[] =>
  readTags(text).flatMap(refine);
