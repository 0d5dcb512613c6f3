'use client'

import { type CSSProperties, createElement, forwardRef, useEffect, useImperativeHandle, useRef } from 'react'
import type { FileRecord } from '../generated/api.ts'
import { defineUploader } from '../uploader/element/define.ts'
import type { SluiceUploaderElement, SluiceUploaderEvents } from '../uploader/element/element.ts'
import type { Texts } from '../uploader/element/texts.ts'
import type { QueueState, UploadItem } from '../uploader/queue/item.ts'
import type { QueueOptions } from '../uploader/queue/options.ts'

/** Properties of {@link SluiceUploader}. */
export interface SluiceUploaderProps {
  /** A URL of your server that creates links. It receives a POST with `{ name, size, type, folder }`. */
  linkUrl?: string
  /** A link, or a function that requests one from your server for each new upload. Instead of `linkUrl`. */
  link?: QueueOptions['link']
  /** As `accept` of an input: `image/*,.pdf`. Default: all types. */
  accept?: string
  /** Largest file: bytes, or a text such as `10MB`. Default: no limit. */
  maxSize?: number | string
  /** Default: false. */
  multiple?: boolean
  /** Whether a button chooses a whole folder. Needs `multiple`. Default: false. */
  folder?: boolean
  /** Whether a button takes a photo. Default: false. */
  camera?: boolean
  disabled?: boolean
  required?: boolean
  /** The name of its value in a form: a list of records as JSON. */
  name?: string
  /** Replaces texts, by name. */
  texts?: Partial<Texts>
  /** Names unfinished uploads, for example with the id of a user. */
  resumeScope?: string
  /** Number of files that are sent at the same time. Default: 3. */
  concurrency?: number
  /** Files of this size and above, in bytes, are sent as resumable uploads. Default: 8 MiB. */
  resumableFromBytes?: number
  /** False: no file is sent straight to the bucket. Default: large files are, where the service offers it. */
  direct?: boolean
  onUploaded?: (record: FileRecord, item: UploadItem) => void
  onError?: (item: UploadItem) => void
  onChange?: (state: QueueState) => void
  id?: string
  className?: string
  style?: CSSProperties
}

/** The element `<sluice-uploader>` as a component. On a server it renders an empty element. */
export const SluiceUploader = forwardRef<SluiceUploaderElement, SluiceUploaderProps>(
  function SluiceUploader(properties, ref) {
    const element = useRef<SluiceUploaderElement>(null)
    const latest = useRef(properties)
    useImperativeHandle(ref, () => element.current as SluiceUploaderElement, [])
    const { link, texts, resumableFromBytes } = properties
    useEffect(() => {
      latest.current = properties
    })
    // Not when the module is loaded: a page that only shows images would load the uploader too.
    useEffect(defineUploader, [])
    useEffect(() => {
      // As properties: attributes are texts.
      if (element.current) Object.assign(element.current, { link, texts: texts ?? {} })
      if (element.current && resumableFromBytes) element.current.resumableFromBytes = resumableFromBytes
    }, [link, texts, resumableFromBytes])
    useEffect(() => {
      const { current } = element
      const controller = new AbortController()
      const listen = <Name extends keyof SluiceUploaderEvents>(
        name: Name,
        listener: (event: SluiceUploaderEvents[Name]) => void,
      ) => current?.addEventListener(name, listener as EventListener, { signal: controller.signal })
      listen('sluice-uploaded', ({ detail: { record, item } }) => latest.current.onUploaded?.(record, item))
      listen('sluice-error', ({ detail: { item } }) => latest.current.onError?.(item))
      listen('sluice-change', ({ detail }) => latest.current.onChange?.(detail))
      return () => controller.abort()
    }, [])
    const flag = (isSet: boolean | undefined) => (isSet ? '' : undefined)
    return createElement('sluice-uploader', {
      ref: element,
      id: properties.id,
      // React 18 has no className for custom elements.
      class: properties.className,
      style: properties.style,
      name: properties.name,
      accept: properties.accept,
      'link-url': properties.linkUrl,
      'max-size': properties.maxSize,
      'resume-scope': properties.resumeScope,
      concurrency: properties.concurrency,
      direct: properties.direct === false ? 'off' : undefined,
      multiple: flag(properties.multiple),
      folder: flag(properties.folder),
      camera: flag(properties.camera),
      disabled: flag(properties.disabled),
      required: flag(properties.required),
    })
  },
)
