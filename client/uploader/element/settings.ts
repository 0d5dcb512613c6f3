import type { Texts } from './texts.ts'

/** What the view of an uploader needs to know. */
export interface Settings {
  texts: Texts
  accept: string
  maxBytes: number | undefined
  multiple: boolean
  folder: boolean
  camera: boolean
  disabled: boolean
}
