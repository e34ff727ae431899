import { render } from "preact";
import "./ui/tokens.css";
import "./ui/base.css";
import "./ui/components.css";
import { startKeys } from "./lib/keys";
import { startRouter } from "./lib/router";
import { startTheme } from "./lib/theme";
import { stream } from "./live";
import { Shell } from "./shell/Shell";

startTheme();
startRouter();
startKeys();
stream.open();
render(<Shell />, document.getElementById("app")!);
