import assert from 'node:assert/strict'
import { test } from 'node:test'
import { IdleCollection } from '../../../src/runtime/idle-collection.ts'

const mebibyte = 1024 * 1024

/** A heap of `live` objects and garbage. */
class FakeHeap {
  live = 20 * mebibyte
  garbage = 0
  collections = 0
  /** Use of the event loop in the current interval. */
  share = 0

  oldBytes(): number {
    return this.live + this.garbage
  }

  collect(): void {
    this.garbage = 0
    this.collections++
  }

  utilization(): { idle: number; active: number; utilization: number } {
    return { idle: 0, active: 0, utilization: this.share }
  }
}

test('garbage of a busy time is collected once the process is idle', () => {
  const heap = new FakeHeap()
  const collection = new IdleCollection(heap)
  heap.garbage = 50 * mebibyte
  heap.share = 0.5
  collection.check()
  assert.equal(heap.collections, 0)
  heap.share = 0.01
  collection.check()
  assert.equal(heap.collections, 1)
  assert.equal(heap.garbage, 0)
})

test('a process that stays idle is not collected again', () => {
  const heap = new FakeHeap()
  const collection = new IdleCollection(heap)
  heap.live = 60 * mebibyte
  for (let i = 0; i < 10; i++) collection.check()
  assert.equal(heap.collections, 1)
  heap.garbage = 4 * mebibyte
  collection.check()
  assert.equal(heap.collections, 1)
})

test('growth counts from the least size, also if V8 collected by itself', () => {
  const heap = new FakeHeap()
  heap.live = 100 * mebibyte
  const collection = new IdleCollection(heap)
  heap.live = 30 * mebibyte
  collection.check()
  heap.garbage = 10 * mebibyte
  collection.check()
  assert.equal(heap.collections, 1)
})
