/**
 * Reward shaping by an agent's history in a dialogue (MARTI): R = this turn's reward, Q = mean reward of the earlier turns, both
 * in [0, 1]. A first turn has no history and is not shaped.
 */

/** R + α(R − Q): a turn that improves on the history is paid more. */
export const marginShaping = (reward: number, history: number | null, alpha = 0.5): number =>
  history === null ? reward : reward + alpha * (reward - history);

/** R + α(QR − (1 − Q)(1 − R)): staying right is paid more, staying wrong less. */
export const qualityShaping = (reward: number, history: number | null, alpha = 0.5): number =>
  history === null ? reward : reward + alpha * (history * reward - (1 - history) * (1 - reward));
