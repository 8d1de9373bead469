import { rectangleAt, svg, textAt } from './svg.js'

/**
 * A function, its callees and the number of samples that contain it.
 * @typedef {object} Frame
 * @property {string} name
 * @property {string} codeOwner owner of its code
 * @property {number} samples
 * @property {Map<string, Frame>} callees
 */

const width = 1200
const rowHeight = 17
const narrowest = 2
const characterWidth = 6.4

/** @type {Record<string, string>} */
const colours = { service: '#8fbce6', node: '#c9d3dc', v8: '#e3dccb' }
const packageColour = '#f0c287'

/**
 * Draws callers above their callees. Width is time.
 * @param {string} title
 * @param {Frame} root
 */
export function flameGraph(title, root) {
  /** @type {string[]} */
  const elements = [
    textAt(title, { x: 0, y: 16, className: 'title' }),
    textAt('blue: the service; orange: packages; grey: Node.js; beige: V8 and native code', {
      x: 0,
      y: 34,
      className: 'faint',
    }),
  ]
  const scale = width / root.samples
  let deepest = 0
  /** @type {(frame: Frame, x: number, depth: number) => void} */
  const draw = ({ name, codeOwner, samples, callees }, x, depth) => {
    const wide = samples * scale
    if (wide < narrowest) return
    deepest = Math.max(deepest, depth)
    const y = 44 + depth * rowHeight
    const share = ((samples / root.samples) * 100).toFixed(1)
    const fill = colours[codeOwner] ?? packageColour
    const title = `${name} (${codeOwner}): ${share} %`
    elements.push(rectangleAt({ x, y, width: wide - 0.5, height: rowHeight - 1, fill, title }))
    const characters = Math.floor((wide - 6) / characterWidth)
    if (characters >= 3)
      elements.push(textAt(name.slice(0, characters), { x: x + 3, y: y + 12, className: 'on-colour' }))
    let calleeX = x
    for (const callee of [...callees.values()].sort((a, b) => b.samples - a.samples)) {
      draw(callee, calleeX, depth + 1)
      calleeX += callee.samples * scale
    }
  }
  draw(root, 0, 0)
  return svg(width, 44 + (deepest + 1) * rowHeight, title, elements)
}
