import { useInViewport } from '@mantine/hooks';
import { useState, type ReactNode } from 'react';

/** Renders its content when it comes into sight, and from then on: a long list then reads the details of few rows. */
export function WhenSeen({ children }: { children: ReactNode }) {
  const { ref, inViewport } = useInViewport();
  const [wasSeen, setWasSeen] = useState(false);
  if (inViewport && !wasSeen) setWasSeen(true);
  return <span ref={ref}>{wasSeen ? children : '…'}</span>;
}
