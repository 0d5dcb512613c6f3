// Compiled by examples.test.ts, and never run.
import type { ImageLoader } from 'next/image'
import loader from 'sluice/next'

export const declared: ImageLoader = loader
