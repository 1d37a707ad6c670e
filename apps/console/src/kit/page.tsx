import { Group, Text, Title } from '@mantine/core';
import { useEffect, type ReactNode } from 'react';
import classes from './page.module.css';

interface PageProps {
  title: string;
  /** One sentence about the purpose of the page. */
  description?: ReactNode;
  /** Main actions, right of the title. */
  actions?: ReactNode;
  /** The content fills the window and scrolls by itself. */
  isFilling?: boolean;
  children: ReactNode;
}

/** The frame of every page: window title, heading, actions, and content. */
export function Page({ title, description, actions, isFilling = false, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Stream events`;
  }, [title]);
  return (
    <div className={classes.page} data-filling={isFilling || undefined}>
      <Group component="header" className={classes.header} justify="space-between" gap="sm" wrap="nowrap">
        <div>
          <Title order={1} size="h3">
            {title}
          </Title>
          {description && (
            <Text size="sm" c="dimmed" visibleFrom="sm">
              {description}
            </Text>
          )}
        </div>
        {actions && (
          <Group gap="xs" wrap="nowrap">
            {actions}
          </Group>
        )}
      </Group>
      <div className={classes.content}>{children}</div>
    </div>
  );
}
