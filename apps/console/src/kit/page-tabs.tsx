import { Tabs } from '@mantine/core';
import { useEffect, useRef, type ReactNode } from 'react';
import classes from './page-tabs.module.css';

export interface PageTab<Value extends string> {
  value: Value;
  title: string;
  /** Shown beside the title, such as a number. */
  badge?: ReactNode;
  content: ReactNode;
}

interface PageTabsProps<Value extends string> {
  tabs: readonly PageTab<Value>[];
  value: Value;
  onChange: (value: Value) => void;
}

/** Only the selected tab is rendered. */
export function PageTabs<Value extends string>({ tabs, value, onChange }: PageTabsProps<Value>) {
  const choose = (chosen: string | null): void => {
    const tab = tabs.find((each) => each.value === chosen);
    if (tab) onChange(tab.value);
  };
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // On a phone, the tabs can be wider than the page. Scroll the selected one into view.
    list.current
      ?.querySelector('[aria-selected=true]')
      ?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [value]);
  return (
    <Tabs value={value} onChange={choose} keepMounted={false}>
      <Tabs.List mb="md" className={classes.list} ref={list}>
        {tabs.map((tab) => (
          <Tabs.Tab key={tab.value} value={tab.value} rightSection={tab.badge}>
            {tab.title}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {tabs.map((tab) => (
        <Tabs.Panel key={tab.value} value={tab.value}>
          {tab.content}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
