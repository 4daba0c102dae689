import hooks from "eslint-plugin-react-hooks";
import tseslint from "typescript-eslint";

// Nothing may turn a string into markup or code.
const SINKS = ["innerHTML", "outerHTML", "insertAdjacentHTML", "dangerouslySetInnerHTML", "srcdoc"];

export default tseslint.config(
  { ignores: ["node_modules", "src/api/schema.ts"] },
  ...tseslint.configs.recommended,
  {
    plugins: { "react-hooks": hooks },
    rules: {
      "react-hooks/rules-of-hooks": "error",
      "react-hooks/exhaustive-deps": "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-console": "error",
      eqeqeq: "error",
      "no-restricted-syntax": [
        "error",
        ...SINKS.flatMap((name) => [
          { selector: `MemberExpression[property.name="${name}"]`, message: "No string becomes markup." },
          { selector: `JSXAttribute[name.name="${name}"]`, message: "No string becomes markup." },
        ]),
      ],
    },
  },
);
