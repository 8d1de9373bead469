import { rectangleAt, svg, textAt } from './svg.js'

/** @typedef {{ name: string, summary: import('./statistics.js').Summary, isService: boolean }} Bar */
/** @typedef {{ name: string, bars: Bar[] }} BarGroup */

const width = 760
const labelWidth = 250
const barHeight = 15
const step = 20
const groupGap = 30
const valueWidth = 130
const colours = { service: '#3b82c4', other: '#9aa4af' }

/**
 * Draws horizontal bars of medians, with a line from the lowest to the highest round.
 * @param {string} title
 * @param {readonly BarGroup[]} groups
 */
export function barChart(title, groups) {
  const longest = Math.max(...groups.flatMap(({ bars }) => bars.map(({ summary }) => summary.max)))
  const lengthOf = (/** @type {number} */ value) => (value / longest) * (width - labelWidth - valueWidth)
  const elements = [textAt(title, { x: 0, y: 16, className: 'title' })]
  let y = 30
  for (const { name, bars } of groups) {
    if (name !== '') {
      elements.push(textAt(name, { x: 0, y: y + 14, className: 'faint' }))
      y += step
    }
    for (const { name, summary, isService } of bars) {
      const { median, min, max } = summary
      const fill = isService ? colours.service : colours.other
      const rounds = { x: labelWidth + lengthOf(min), width: Math.max(1, lengthOf(max) - lengthOf(min)) }
      elements.push(
        textAt(name, { x: labelWidth - 8, y: y + 12, anchor: 'end' }),
        rectangleAt({ x: labelWidth, y, width: lengthOf(median), height: barHeight, fill }),
        rectangleAt({ ...rounds, y: y + barHeight / 2 - 1, height: 2, fill: '#5c6670' }),
        textAt(readable(median), { x: labelWidth + lengthOf(max) + 6, y: y + 12 }),
      )
      y += step
    }
    y += groupGap - step
  }
  return svg(width, y, title, elements)
}

/** @param {number} value */
function readable(value) {
  return Number(value.toPrecision(3)).toLocaleString('en')
}
