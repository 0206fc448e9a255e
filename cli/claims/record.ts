/** The results file of a claim: committed as data, and what docs/claims.md is made from. */
import type { JudgedCondition, Verdict } from '../../core/claims.ts';
import type { Summary } from '../../core/schema/summary.ts';

export interface ClaimRecord {
  readonly recipe: string;
  readonly claim: string;
  readonly verdict: Verdict;
  readonly conditions: readonly JudgedCondition[];
  readonly observations?: readonly JudgedCondition[];
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly node: string;
    readonly commit: string;
    readonly at: string;
  };
  readonly rounds: number;
  readonly seeds: readonly number[];
  /** Titles of the curves by figure; absent = the held-out accuracies. */
  readonly pictures?: Readonly<Record<string, string>>;
  readonly arms: readonly {
    readonly name: string;
    readonly reward?: string;
    readonly freeze?: readonly string[];
    readonly variant?: string;
    readonly says: string;
    /** One run a seed. */
    readonly runs: readonly Summary[];
  }[];
}
