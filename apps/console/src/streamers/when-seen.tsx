import { useInViewport } from '@mantine/hooks';
import { useState, type ReactNode } from 'react';

/** Renders its content as soon as the place for the content is visible. A long list then loads details only for the rows that were seen. */
export function WhenSeen({ children }: { children: ReactNode }) {
  const { ref, inViewport } = useInViewport();
  const [wasSeen, setWasSeen] = useState(false);
  if (inViewport && !wasSeen) setWasSeen(true);
  return <span ref={ref}>{wasSeen ? children : '…'}</span>;
}
