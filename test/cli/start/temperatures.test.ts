/** The lines about temperatures under a round's line, from the figures of its evaluation. */
import { expect, test } from 'vitest';
import { temperatureLines } from '../../../cli/start/temperatures.ts';
import { bestOf, temperatureFigures, temperaturesIn } from '../../../core/statistics/temperatures.ts';

const at = (temperature: number, accuracy: number, pass: number | null = null) => ({
  ...{ temperature, accuracy, pass },
  majority: pass,
});

test('each temperature has its shares, and the best of them a mark', () => {
  const figures = temperatureFigures([at(0, 0.5), at(0.3, 0.53125, 0.75), at(10, 0.25, 1)]);
  expect(temperatureLines({ figures: { ...figures, tokens: 12 } })).toEqual([
    '   temperature    greedy     0.3 *        10',
    '         right    50.0 %    53.1 %    25.0 %',
    '        pass@k              75.0 %   100.0 %',
    '    majority@k              75.0 %   100.0 %',
  ]);
});

test('there are none where the run did not ask', () => {
  expect(temperatureLines({ figures: { tokens: 12 } })).toEqual([]);
  expect(temperatureLines(undefined)).toEqual([]);
});

test('of equals the lowest temperature is the best, in whatever order', () => {
  expect(bestOf([at(1, 0.5), at(0.3, 0.5), at(0.6, 0.4)]).temperature).toBe(0.3);
  expect(temperaturesIn(temperatureFigures([at(1, 0.5), at(0, 0.5)])).map((one) => one.temperature)).toEqual([
    0, 1,
  ]);
});
