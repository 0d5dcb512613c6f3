import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import type { FileWithDerivatives } from '../../../../../../client/index.ts'
import { useClient } from '../../../../api/session.ts'
import { toast } from '../../../../ui/overlays/toast.tsx'
import { useFileCache } from './file.ts'

/** A point of the upright picture, as fractions of its sides. */
export interface Point {
  x: number
  y: number
}

// Keys move the point step by step: only the last step is sent.
const PAUSE_MS = 250

/** The focal point of a file. A change is shown at once, and sent after a short pause. Null removes it. */
export function useFocalPoint(file: FileWithDerivatives) {
  const { sluice } = useClient()
  const cache = useFileCache(useQueryClient())
  const [chosen, setChosen] = useState<Point | null>()
  // Sends the chosen point at once. Undefined: it is sent.
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const send = useRef<() => void>(undefined)
  const { mutate } = useMutation({
    mutationFn: (focalPoint: Point | null) => sluice.files.update(file, { focalPoint }),
    onSuccess: (changed) => cache.changed(changed),
    onError: toast.failure,
    // The point may have been moved again since it was sent.
    onSettled: (_data, _error, sent) => setChosen((current) => (current === sent ? undefined : current)),
  })
  // The panel may be closed, or show another file, during the pause.
  useEffect(() => () => send.current?.(), [])
  return {
    point: chosen === undefined ? file.focalPoint : (chosen ?? undefined),
    setPoint(point: Point | null) {
      setChosen(point)
      clearTimeout(timer.current)
      send.current = () => {
        clearTimeout(timer.current)
        send.current = undefined
        mutate(point)
      }
      timer.current = setTimeout(send.current, PAUSE_MS)
    },
  }
}
