/** For light and dark pages. */
const style = `text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.faint { fill: #59636e }
.title { font-size: 14px; font-weight: 600 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .faint { fill: #9198a1 } }
.on-colour { fill: #1f2328 }`

/**
 * @param {number} width
 * @param {number} height
 * @param {string} label description for screen readers
 * @param {readonly string[]} elements
 */
export function svg(width, height, label, elements) {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(label)}">
<style>${style}</style>
${elements.join('\n')}
</svg>
`
}

/**
 * @param {string} content
 * @param {{ x: number, y: number, className?: string, anchor?: 'start' | 'end' }} at
 */
export function textAt(content, { x, y, className, anchor }) {
  const attributes = [
    `x="${round(x)}" y="${round(y)}"`,
    ...(className === undefined ? [] : [`class="${className}"`]),
    ...(anchor === undefined ? [] : [`text-anchor="${anchor}"`]),
  ]
  return `<text ${attributes.join(' ')}>${escaped(content)}</text>`
}

/**
 * @param {{ x: number, y: number, width: number, height: number, fill: string, title?: string }} rectangle
 */
export function rectangleAt({ x, y, width, height, fill, title }) {
  const attributes = `x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" rx="1" fill="${fill}"`
  return title === undefined
    ? `<rect ${attributes}/>`
    : `<rect ${attributes}><title>${escaped(title)}</title></rect>`
}

/** @param {string} text */
function escaped(text) {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** @param {number} value */
function round(value) {
  return Math.round(value * 10) / 10
}
