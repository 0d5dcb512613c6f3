// Compiled by package.test.ts, and never run. Each @ts-expect-error fails when there is no error.
import astro, { type AstroImageService } from 'sluice/astro'
import next, { type ImageLoaderProps } from 'sluice/next'
import nuxt, { type SluiceProvider } from 'sluice/nuxt-image'

/** The loader of `next/image`, as Next.js declares it. */
export const loader: (props: { src: string; width: number; quality?: number }) => string = next
export const props: ImageLoaderProps = { src: 'a', width: 3 }
// @ts-expect-error a loader needs a width
next({ src: 'a' })

export const provider: SluiceProvider = nuxt()
provider.getImage('a.jpg', { modifiers: { width: 3, rotate: 90 }, baseURL: 'https://files.example' })
// @ts-expect-error there is no such modifier
provider.getImage('a.jpg', { modifiers: { rotat: 90 } })
// @ts-expect-error there is no such option
provider.getImage('a.jpg', { modifiers: {}, baseUrl: 'https://files.example' })

export const service: AstroImageService = astro
const imported = { src: 'a', width: 3, height: 2, format: 'png' }
export const url: string = astro.getURL({ src: imported, width: 3, alt: 'a' })
export const widths: number[] = astro
  .getSrcSet({ src: 'a', width: 3, widths: [1] })
  .map(({ transform }) => transform.width)
// @ts-expect-error a width is a number
astro.getURL({ src: 'a', width: '3' })
