import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";

/** Whoever points at something is left alone for so long. */
const attended = 60_000;

/** Shows the overview and the timeline in turn, each for some seconds, while nobody is at the screen. */
export function useRotation(seconds: number | undefined): void {
  const navigate = useNavigate();
  useEffect(() => {
    if (seconds === undefined) return;
    let isTimeline = false;
    let touched = Number.NEGATIVE_INFINITY;
    const touch = () => {
      touched = Date.now();
    };
    const timer = setInterval(() => {
      if (Date.now() - touched < attended) return;
      isTimeline = !isTimeline;
      void navigate({ to: isTimeline ? "/schedule" : "/" });
    }, seconds * 1000);
    const events = ["pointerdown", "keydown", "wheel"] as const;
    for (const event of events) window.addEventListener(event, touch, { passive: true });
    return () => {
      clearInterval(timer);
      for (const event of events) window.removeEventListener(event, touch);
    };
  }, [seconds, navigate]);
}
