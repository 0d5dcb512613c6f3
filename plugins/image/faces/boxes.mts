import type { Box } from '../../../src/core/geometry/box.ts'
import { BOX_NUMBERS, type Grid } from './network.mts'

/** A detected face. */
export interface Face {
  box: Box
  /** How certain the network is, from 0 to 1. */
  score: number
}

/** The faces that the network states with at least this score, in pixels of its input. */
export function facesOf(grids: readonly Grid[], minScore: number): Face[] {
  const faces: Face[] = []
  for (const { width, height, stride, anchors, scores, boxes } of grids) {
    for (let cell = 0; cell < width * height; cell++) {
      for (let anchor = 0; anchor < anchors; anchor++) {
        const logit = scores.values[cell * scores.perCell + anchor] as number
        const score = 1 / (1 + Math.exp(-logit))
        if (score < minScore) continue
        const at = cell * boxes.perCell + anchor * BOX_NUMBERS
        const [dx, dy, w, h] = boxes.values.subarray(at, at + 4) as unknown as [
          number,
          number,
          number,
          number,
        ]
        const x = ((cell % width) + 0.5) * stride + dx
        const y = (Math.floor(cell / width) + 0.5) * stride + dy
        faces.push({ box: { left: x - w / 2, top: y - h / 2, width: w, height: h }, score })
      }
    }
  }
  return faces
}

/**
 * One box per face: of boxes that overlap, the one with the best score remains. The overlap is a share of the smaller
 * box, so that an eye within a face does not count as a second face.
 */
export function distinct(faces: readonly Face[]): Box[] {
  const kept: Box[] = []
  for (const { box } of faces.toSorted((a, b) => b.score - a.score))
    if (!kept.some((other) => overlap(box, other) > MAX_OVERLAP)) kept.push(box)
  return kept
}

// Faces of people who stand cheek to cheek overlap less.
const MAX_OVERLAP = 0.4

function overlap(a: Box, b: Box): number {
  const width = Math.min(a.left + a.width, b.left + b.width) - Math.max(a.left, b.left)
  const height = Math.min(a.top + a.height, b.top + b.height) - Math.max(a.top, b.top)
  return (Math.max(0, width) * Math.max(0, height)) / Math.min(a.width * a.height, b.width * b.height)
}
