import { useInViewport } from '@mantine/hooks';
import { useState, type ReactNode } from 'react';

/** Renders its content once it was visible. A long list then loads details for only a few rows. */
export function WhenSeen({ children }: { children: ReactNode }) {
  const { ref, inViewport } = useInViewport();
  const [wasSeen, setWasSeen] = useState(false);
  if (inViewport && !wasSeen) setWasSeen(true);
  return <span ref={ref}>{wasSeen ? children : '…'}</span>;
}
