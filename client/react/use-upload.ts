'use client'

import {
  type ChangeEvent,
  type DragEvent,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import { chosenFiles, droppedFiles } from '../uploader/element/dropped.ts'
import { browserMemory } from '../uploader/queue/browser-memory.ts'
import type { QueueState } from '../uploader/queue/item.ts'
import { linkFromUrl } from '../uploader/queue/link-url.ts'
import type { QueueOptions } from '../uploader/queue/options.ts'
import { createUploadQueue, type UploadQueue } from '../uploader/queue/queue.ts'

/** Options of {@link useUpload}. They can change at each render. */
export interface UseUploadOptions extends Omit<QueueOptions, 'link'> {
  /** A link, or a function that requests one from your server for each new upload. Instead of `linkUrl`. */
  link?: QueueOptions['link']
  /** A URL of your server that creates links. It receives a POST with `{ name, size, type, folder }`. */
  linkUrl?: string
}

/** What a component needs for an uploader of its own. */
export interface UseUploadResult
  extends QueueState,
    Pick<UploadQueue, 'add' | 'pause' | 'resume' | 'retry' | 'remove' | 'clear'> {
  /** Whether files are over the element with `dropProps`. */
  isOver: boolean
  /** Why the last drop could not be read, for example a folder without permission. Undefined after the next drop. */
  dropError: Error | undefined
  /** Properties of an element that accepts drops. */
  dropProps: {
    onDragOver(event: DragEvent): void
    onDragLeave(event: DragEvent): void
    onDrop(event: DragEvent): void
  }
  /** Properties of an `<input>`. */
  inputProps: {
    type: 'file'
    accept: string | undefined
    multiple: boolean
    onChange(event: ChangeEvent<HTMLInputElement>): void
  }
}

/** A queue of uploads as state of a component. Its uploads stop when the component is removed. */
export function useUpload(options: UseUploadOptions): UseUploadResult {
  const latest = useRef(options)
  const [queue] = useState(() =>
    createUploadQueue({
      link: (file) => {
        const { link, linkUrl } = latest.current
        if (link !== undefined) return typeof link === 'function' ? link(file) : link
        if (linkUrl === undefined) throw new TypeError('useUpload needs linkUrl or link.')
        return linkFromUrl(linkUrl, file)
      },
    }),
  )
  useEffect(() => {
    latest.current = options
    const { link: _, linkUrl: __, memory, resumeScope = '', ...others } = options
    queue.configure({ ...others, resumeScope, memory: memory ?? browserMemory(resumeScope) })
  })
  const isRemoved = useRef(false)
  useEffect(() => {
    isRemoved.current = false
    void queue.restore()
    return () => {
      isRemoved.current = true
      queue.close()
    }
  }, [queue])
  const state = useSyncExternalStore(queue.subscribe, queue.getState, queue.getState)
  const [isOver, setOver] = useState(false)
  const [dropError, setDropError] = useState<Error>()
  const handlers = useMemo(
    () => ({
      onDragOver(event: DragEvent) {
        if (!event.dataTransfer.types.includes('Files')) return
        event.preventDefault()
        setOver(true)
      },
      onDragLeave({ currentTarget, relatedTarget }: DragEvent) {
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) setOver(false)
      },
      onDrop(event: DragEvent) {
        event.preventDefault()
        setOver(false)
        setDropError(undefined)
        droppedFiles(event.dataTransfer).then((files) => {
          // A folder takes a while to read.
          if (!isRemoved.current) queue.add(files)
        }, setDropError)
      },
      onChange({ target }: ChangeEvent<HTMLInputElement>) {
        queue.add(chosenFiles(target.files ?? []))
        // The same file can be chosen again.
        target.value = ''
      },
    }),
    [queue],
  )
  const { onChange, ...dropProps } = handlers
  const { add, pause, resume, retry, remove, clear } = queue
  const { accept, multiple = true } = options
  return {
    ...state,
    add,
    pause,
    resume,
    retry,
    remove,
    clear,
    isOver,
    dropError,
    dropProps,
    inputProps: { type: 'file', accept, multiple, onChange },
  }
}
