'use client'

import { useRouter } from 'next/navigation'
import { SluiceUploader } from 'sluice/react'

export function Upload() {
  const router = useRouter()
  return (
    <SluiceUploader linkUrl="/upload-link" accept="image/*" multiple onUploaded={() => router.refresh()} />
  )
}
