/** Verdicts on what was said of a map: what the verifier finds itself, whether that is what was said, and how sure it is. */
import { invalid, ok, type ParseResult } from '../../core/recipe/task-family.ts';
import { STOP, withoutStop } from '../worked.ts';
import { BETWEEN, type Look, readSight, reasonPrompt, sightPrompt, writeAct } from './maps.ts';

const RIGHT = '. Right? ';
const SURE = ' sure';
const UNSURE = ' unsure';
/** The words that they have beside those of maps. */
export const VERDICT_WORDS: readonly string[] = [RIGHT, SURE, UNSURE];

export interface Verdict {
  /** What it finds itself in place of what was said. */
  readonly found: string;
  readonly right: boolean;
  readonly sure: boolean;
}

/** Asks whether what was said of a part is right. `shown`: the part as the verifier's own look shows it, or nothing. */
export const verifySightPrompt = (task: string, shown: string, { part, seen }: Look): string =>
  sightPrompt(task, shown, part) + seen + RIGHT;

/** Asks whether an answer follows from what was said of parts. */
export const verifyAnswerPrompt = (task: string, looks: readonly Look[], answer: string): string =>
  reasonPrompt(task, looks) + writeAct({ answer }) + RIGHT;

export const verdictText = ({ found, right, sure }: Verdict): string =>
  `${found}${BETWEEN}${right ? 'yes' : 'no'}${sure ? SURE : UNSURE}`;

export function readVerdict(text: string): ParseResult<Verdict> {
  const [, found, said, sure] = /^([^.]+)\. (yes|no) (sure|unsure)$/.exec(withoutStop(text) ?? '') ?? [];
  if (found === undefined || !readSight(found + STOP).ok) return invalid('off-grammar');
  return ok({ found, right: said === 'yes', sure: sure === 'sure' });
}
