// Compiled by examples.test.ts, and never run.
import type { ExternalImageService } from 'astro'
import service from 'sluice/astro'

export const declared: ExternalImageService = service
