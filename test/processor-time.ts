/** Begins to measure what this process takes of the processor, ms, which other work on the machine does not lengthen. @returns what it took so far */
export function processorTime(): () => number {
  const start = process.cpuUsage();
  return () => process.cpuUsage(start).user / 1000;
}
