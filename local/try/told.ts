/** What the page /try and its thread say to each other. */
import type { Part } from '../../core/recipe/reading.ts';
import type { RecipeAnswer } from '../../core/schema/answers.ts';
import type { EvaluationReport } from '../../core/schema/report.ts';
import type { RoundLine } from '../../core/schema/summary.ts';
import type { VerifiedVersion } from '../verify/verify-version.ts';
import type { TrySettings } from './settings.ts';

/** A recipe that the page offers: what a reader must know of it, and the sizes of its rounds. */
export type OfferedRecipe = Pick<
  RecipeAnswer,
  'name' | 'title' | 'summary' | 'rewards' | 'variants' | 'figures' | 'cells'
> & {
  readonly roles: Readonly<Record<string, string>>;
  readonly groupSize: number;
  /** The roles that can keep version 0. */
  readonly freezable: readonly string[];
};

/** Files that the user chose from disk, by their names. They stay in this tab. */
export type UserFiles = Readonly<Record<string, Uint8Array<ArrayBuffer>>>;

export type Asked =
  | {
      readonly kind: 'play';
      readonly settings: TrySettings;
      /** Goes on with the run that was begun, up to the rounds of the settings. */
      readonly more: boolean;
      /** A checkpoint in place of the shipped start. */
      readonly checkpoint?: UserFiles | undefined;
      /** Questions in place of the recipe's world. */
      readonly questions?: { readonly name: string; readonly bytes: Uint8Array<ArrayBuffer> } | undefined;
    }
  /** Trains the versions of a receipt again. */
  | { readonly kind: 'check'; readonly receipt: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'pause' | 'resume' | 'save' | 'records' };

/** What a role read and wrote last in a round. */
export interface LastWords {
  readonly role: string;
  readonly seen: readonly Part[];
  readonly said: readonly Part[];
  /** Why it is no valid output; `ok` where it is one. */
  readonly outcome: string;
  readonly reward: number | null | undefined;
}

/** The hashes of the code that the page was bundled from, beside it. */
export const CODE_FILE = 'code.json';

export type Told =
  | {
      readonly kind: 'ready';
      readonly flagship: string;
      readonly recipes: readonly OfferedRecipe[];
      /** The start policies that lie beside the page. */
      readonly starts: readonly string[];
      /** The names of the recipes that take questions of files. */
      readonly onQuestions: readonly string[];
    }
  | {
      readonly kind: 'started';
      readonly device: string;
      readonly arithmetic: string;
      readonly called: string;
      readonly run: string;
      /** Rounds that were played before. */
      readonly done: number;
      readonly notes: readonly string[];
    }
  | { readonly kind: 'evaluated'; readonly evaluation: EvaluationReport; readonly sha256: string }
  | {
      readonly kind: 'round';
      readonly line: RoundLine;
      readonly words: readonly LastWords[];
      readonly sha256: string;
    }
  /** A receipt is whole; its versions are trained again from here on. `trainedMs`: how long that took where they were made. */
  | {
      readonly kind: 'receipt';
      readonly bytes: number;
      readonly policy: string;
      readonly from: number;
      readonly to: number;
      readonly versions: number;
      readonly groups: number;
      readonly trainedMs: number;
      readonly sha256: string;
      readonly madeBy: string;
      /** Whether its code is the one here, in a sentence. */
      readonly comparison: string;
    }
  | { readonly kind: 'verified'; readonly version: VerifiedVersion; readonly manifest: string }
  | { readonly kind: 'checked' }
  | { readonly kind: 'finished' | 'paused' }
  | { readonly kind: 'saved'; readonly name: string; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'records'; readonly name: string; readonly bytes: Uint8Array<ArrayBuffer> }
  /** Ends a run, or is why it did not begin; `fatal`: nothing can be played here. */
  | { readonly kind: 'failed'; readonly message: string; readonly fatal: boolean };
