/** What the mesh assumes of its platform, each as a check that asks the platform itself. */
import type { Check } from './checks/check.ts';
import { D1 } from './checks/d1.ts';
import { QUEUES } from './checks/queues.ts';
import { R2 } from './checks/r2.ts';
import { WORKERS } from './checks/workers.ts';

export const CHECKS: readonly Check[] = [...D1, ...R2, ...QUEUES, ...WORKERS];
