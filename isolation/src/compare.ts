import type { Cell, Row } from './databases/database.ts'

/** Relative difference of two sums of the same numbers in another order. */
const tolerance = 1e-12

/** The rows of one result that the other lacks, and the reverse. */
export interface Difference {
  readonly missing: readonly Row[]
  readonly added: readonly Row[]
}

/** Compares two results as multisets. */
export function differenceOf(before: readonly Row[], after: readonly Row[]): Difference {
  const counts = new Map<string, Row[]>()
  for (const row of after) {
    const key = JSON.stringify(row)
    const rows = counts.get(key)
    if (rows === undefined) counts.set(key, [row])
    else rows.push(row)
  }
  const missing = before.filter((row) => counts.get(JSON.stringify(row))?.pop() === undefined)
  const added = [...counts.values()].flat()
  return withoutRounding(missing, added)
}

/** Returns whether two results have the same rows in any order. */
export function isSame(a: readonly Row[], b: readonly Row[]): boolean {
  const { missing, added } = differenceOf(a, b)
  return missing.length === 0 && added.length === 0
}

/** Returns whether two results have the same rows in the same order. */
export function isSameList(a: readonly Row[], b: readonly Row[]): boolean {
  return a.length === b.length && a.every((row, i) => isSameRow(row, b[i] ?? []))
}

/**
 * Returns whether two lists have the same rows in the same order, except for rows that sort alike: other orders of the first show which
 * do.
 */
export function isSameExceptTies(
  a: readonly Row[],
  b: readonly Row[],
  others: readonly (readonly Row[])[],
): boolean {
  const same = commonBeginnings(a, b)
  const alike = others.map((other) => commonBeginnings(a, other))
  return a.every((_, i) => same.has(i) || !alike.every((beginnings) => beginnings.has(i)))
}

/** Returns the indexes of the last rows of beginnings with the same rows in any order. */
function commonBeginnings(a: readonly Row[], b: readonly Row[]): ReadonlySet<number> {
  const surplus = new Map<string, number>()
  const add = (row: Row, count: number) => {
    const key = JSON.stringify(row)
    const sum = (surplus.get(key) ?? 0) + count
    if (sum === 0) surplus.delete(key)
    else surplus.set(key, sum)
  }
  const beginnings = new Set<number>()
  for (const [i, row] of a.entries()) {
    add(row, 1)
    add(b[i] ?? [], -1)
    if (surplus.size === 0) beginnings.add(i)
  }
  return beginnings
}

/** Pairs rows that differ only by the rounding of fractions. */
function withoutRounding(missing: readonly Row[], added: readonly Row[]): Difference {
  const byExactCells = new Map<string, Row[]>()
  for (const row of added) {
    const key = exactCells(row)
    byExactCells.set(key, [...(byExactCells.get(key) ?? []), row])
  }
  const unpaired = missing.filter((row) => {
    const candidates = byExactCells.get(exactCells(row)) ?? []
    const index = candidates.findIndex((candidate) => isSameRow(row, candidate))
    if (index !== -1) candidates.splice(index, 1)
    return index === -1
  })
  return { missing: unpaired, added: [...byExactCells.values()].flat() }
}

function exactCells(row: Row): string {
  return JSON.stringify(row.map((cell) => (typeof cell === 'number' ? 0 : cell)))
}

function isSameRow(a: Row, b: Row): boolean {
  return a.length === b.length && a.every((cell, i) => isSameCell(cell, b[i] ?? null))
}

function isSameCell(a: Cell, b: Cell): boolean {
  if (typeof a !== 'number' || typeof b !== 'number' || (Number.isInteger(a) && Number.isInteger(b)))
    return a === b
  return Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b))
}
