/**
 * `rollmesh/charts`: pictures as SVG files in the page's inks, of curves over rounds or of shapes of one's own.
 *
 *     import { lineChart } from 'rollmesh/charts';
 */

export { inkOf } from '../../web/dashboard/chart-image.js';
export { type Shape, shape } from '../../web/dashboard/drawing.js';
export { ticks } from '../../web/dashboard/scales.js';
export { framed, type Titles } from './frame.ts';
export { lineChart, type Series } from './line-chart.ts';
